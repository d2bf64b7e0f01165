// Conversion of devices to text and back.
#include <tma_jit/device_choice.h>
#include <tma_jit/device_info.h>

#include <charconv>
#include <optional>

#include "core/failure.h"

namespace tma_jit {
namespace {

std::optional<int> ordinal_in(std::string_view text) {
  int ordinal = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
  if (error != std::errc{} || end != text.data() + text.size() || ordinal < 0) return std::nullopt;
  return ordinal;
}

}  // namespace

Device Device::cuda(int ordinal) {
  return {Kind::cuda, ordinal, std::to_string(ordinal)};
}

Device Device::known(std::string_view name) {
  return {Kind::known, 0, std::string(name)};
}

Device Device::emulated(const EmulatorSettings& settings) {
  return {Kind::emulated, 0, device_text(settings)};
}

Result<Device> Device::parse(std::string_view text) {
  if (is_emulator(text)) {
    TMA_JIT_CHECK(parse_emulator(text));
    return Device{Kind::emulated, 0, std::string(text)};
  }
  if (const auto ordinal = ordinal_in(text)) return cuda(*ordinal);
  TMA_JIT_ASSIGN(const DeviceInfo facts, device_named(text));
  return known(facts.name);
}

}  // namespace tma_jit
