// The device that an engine works for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tma_jit/emulator.h>
#include <tma_jit/error.h>

namespace tma_jit {

// A plain value that opens nothing: whether the device exists is found out by the first call that needs it.
class Device {
 public:
  enum class Kind : std::uint8_t {
    cuda,      // a GPU, by its ordinal
    known,     // facts by name, to plan and build without a GPU
    emulated,  // the CPU, as configured by <tma_jit/emulator.h>
  };

  Device() = default;  // the first GPU
  // The ordinal counts the devices that CUDA_VISIBLE_DEVICES makes visible.
  [[nodiscard]] TMA_JIT_API static Device cuda(int ordinal);
  // `name` is one of known_devices().
  [[nodiscard]] TMA_JIT_API static Device known(std::string_view name);
  [[nodiscard]] TMA_JIT_API static Device emulated(const EmulatorSettings& settings);
  // Accepts "0", a name from known_devices(), "emulator", or "emulator:" and settings as parse_emulator reads them.
  // Settings that are not given are taken from TMA_JIT_EMULATOR when the engine is created. Fails if the name is
  // unknown (not_found) or the settings are malformed (invalid_argument).
  [[nodiscard]] TMA_JIT_API static Result<Device> parse(std::string_view text);

  Kind kind() const { return kind_; }
  int ordinal() const { return ordinal_; }  // 0 unless kind() is cuda
  // The text that `parse` reads as this device.
  const std::string& text() const { return text_; }

  friend bool operator==(const Device&, const Device&) = default;

 private:
  Device(Kind kind, int ordinal, std::string text) : kind_(kind), ordinal_(ordinal), text_(std::move(text)) {}

  Kind kind_ = Kind::cuda;
  int ordinal_ = 0;
  std::string text_ = "0";
};

}  // namespace tma_jit
