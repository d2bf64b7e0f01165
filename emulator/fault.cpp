#include "emulator/fault.h"

#include <array>

namespace tma_jit::emulator {

std::string_view name_of(FaultKind kind) {
  static constexpr std::array<std::string_view, 21> kNames = {
      "syntax",        "unsupported", "launch",        "cooperative launch too large",
      "out of bounds", "misaligned",  "uninitialised", "race",
      "proxy",         "in flight",   "barrier",       "divergence",
      "deadlock",      "livelock",    "tensor map",    "descriptor",
      "tensor memory", "cluster",     "registers",     "trap",
      "limit"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view advice_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::bounds:
      return "compare the address with what was allocated: a size, a pitch, an index or a box goes too far";
    case FaultKind::alignment: return "align the object and every offset into it to the size of the access";
    case FaultKind::barrier: return "all who use a barrier must agree on its life, its counts and its phases";
    case FaultKind::divergence:
      return "bring the lanes together before it: no branch around it that only some of them take, the same operands "
             "in all of them, and a mask that names them";
    case FaultKind::deadlock:
      return "look for the arrival, the bytes or the phase that the first line waits for: who was to bring it, and "
             "what does that one wait for";
    case FaultKind::livelock: return "look for the store or the arrival that these lines poll for";
    case FaultKind::too_large:
      return "launch at most as many blocks as cuOccupancyMaxActiveBlocksPerMultiprocessor gives, times the "
             "multiprocessors, or blocks that need less shared memory";
    case FaultKind::tensor_map:
      return "pass the 128 bytes that cuTensorMapEncode made as a __grid_constant__ parameter, and let the instruction "
             "match them";
    case FaultKind::descriptor: return "build it from the fields that PTX ISA gives for this instruction and its kind";
    case FaultKind::tensor_memory:
      return "every access lies within columns that its block has allocated, and in its warp's own lanes";
    case FaultKind::cluster:
      return "use ranks below the cluster's size, and synchronise the cluster before any of its blocks leaves";
    case FaultKind::registers:
      return "all four warps of a warpgroup execute the same setmaxnreg, which divides the registers that the block "
             "was launched with";
    default: return {};
  }
}

std::string Fault::text() const {
  std::string out = fmt::format("{}: {}", name_of(kind), message);
  if (!location.empty()) out += "\n" + location;
  const std::string_view help = advice.empty() ? advice_of(kind) : std::string_view(advice);
  if (!help.empty()) out += fmt::format("\n{}", help);
  return out;
}

}  // namespace tma_jit::emulator
