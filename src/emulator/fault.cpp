#include "emulator/fault.h"

#include <array>

namespace tma_jit::emulator {

std::string_view name_of(FaultKind kind) {
  static constexpr std::array<std::string_view, 20> kNames = {
      "syntax",     "unsupported",   "launch",  "out of bounds", "misaligned", "uninitialised", "race",
      "proxy",      "in flight",     "barrier", "divergence",    "deadlock",   "livelock",      "tensor map",
      "descriptor", "tensor memory", "cluster", "registers",     "trap",       "limit"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string Fault::text() const {
  std::string out = fmt::format("{}: {}", name_of(kind), message);
  if (!place.empty()) out += "\n" + place;
  if (!advice.empty()) out += "\n" + advice;
  return out;
}

}  // namespace tma_jit::emulator
