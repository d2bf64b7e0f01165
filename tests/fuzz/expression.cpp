// Expressions of manifests, parsed and evaluated with extreme values.
#include <limits>
#include <string_view>

#include "core/failure.h"
#include "target.h"
#include "template/expression.h"

namespace tma_jit::fuzz {
namespace {

class ExtremeScope final : public templates::Scope {
 public:
  Result<std::int64_t> value(const templates::Reference& reference) const override {
    switch (reference.text().size() % 5) {
      case 0: return std::int64_t{0};
      case 1: return std::int64_t{-1};
      case 2: return std::numeric_limits<std::int64_t>::max();
      case 3: return std::numeric_limits<std::int64_t>::min();
      default: return failure(ErrorCode::invalid_argument, "not given");
    }
  }
};

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  const auto expression = templates::parse_expression({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (expression) (void)expression->evaluate(ExtremeScope());
}

std::vector<std::string> seeds() {
  return {"align_up(STAGES * (BM + BN) * 128 + CONSUMERS * 64, 1024)",
          "BN / STRIP % 2 == 0 ? 2 : 1",
          "max(1, ceil_div(M, device.sm_count / CLUSTER))",
          "!(A && B) || ~C >> 3 << 62 ^ 0x7fffffffffffffff",
          "stride(A, 0) * sizeof(T) % 16 == 0 && alignment(A) >= 16",
          "-9223372036854775807 - 1 / min(M, -N)"};
}

}  // namespace tma_jit::fuzz
