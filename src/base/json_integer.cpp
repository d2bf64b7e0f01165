#include "base/json_integer.h"

#include "core/failure.h"

namespace tma_jit {
namespace {

constexpr std::size_t kShownMax = 40;  // most characters of the offending value shown

}  // namespace

tl::unexpected<Error> not_an_integer(std::string_view what, const std::string& found, std::int64_t least,
                                     std::uint64_t most) {
  const std::string_view shown = std::string_view(found).substr(0, kShownMax);
  return failure(ErrorCode::parse, "{} is {}{}; a whole number from {} to {} is wanted", what, shown,
                 shown.size() < found.size() ? "..." : "", least, most);
}

}  // namespace tma_jit
