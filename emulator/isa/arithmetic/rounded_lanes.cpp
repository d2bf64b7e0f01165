#include "emulator/isa/arithmetic/rounded_lanes.h"

#include <cfenv>

#include "emulator/machine/warp.h"

namespace tma_jit::emulator::isa {
namespace {

struct alignas(64) Lanes {
  u8 bytes[kLanes * 8];
};

// Sets the host's rounding mode, which the lane functions use: they are machine arithmetic called through pointers.
class HostRounding {
 public:
  explicit HostRounding(int mode) : changed_(mode != FE_TONEAREST) {
    if (changed_) std::fesetround(mode);
  }
  ~HostRounding() {
    if (changed_) std::fesetround(FE_TONEAREST);
  }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  const bool changed_;
};

}  // namespace

Step do_lanes_rounded(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const RoundedLanes&>(*op.data);
  Lanes in[3], result;
  const u8* sources[3] = {};
  const RegisterRef* refs[3] = {&op.a, &op.b, &op.c};
  for (int i = 0; i < 3; ++i) {
    if (!*refs[i]) continue;
    sources[i] = warp.values<u8>(*refs[i]);
    if (form.flush == nullptr) continue;
    form.flush(in[i].bytes, sources[i], nullptr, nullptr);
    sources[i] = in[i].bytes;
  }
  {
    const HostRounding rounding(form.rounding);
    op.lanes(result.bytes, sources[0], sources[1], sources[2]);
  }
  if (form.flush != nullptr) form.flush(result.bytes, result.bytes, nullptr, nullptr);
  if (form.finish != nullptr) form.finish(result.bytes, result.bytes, nullptr, nullptr);
  warp.set(op.d, active, result.bytes);
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
