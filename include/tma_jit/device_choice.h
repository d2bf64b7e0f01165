// Which device an engine is for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tma_jit/emulator.h>
#include <tma_jit/error.h>

namespace tma_jit {

// A plain value. It opens nothing: whether there is such a device is seen by the first call that needs it.
class Device {
 public:
  enum class Kind : std::uint8_t {
    cuda,      // a GPU, by its ordinal
    known,     // facts by name, to plan and build for without a GPU
    emulated,  // the CPU, as <tma_jit/emulator.h> says
  };

  Device() = default;  // the first GPU
  // The ordinal counts the devices that CUDA_VISIBLE_DEVICES shows.
  [[nodiscard]] TMA_JIT_API static Device cuda(int ordinal);
  // One of known_devices().
  [[nodiscard]] TMA_JIT_API static Device known(std::string_view name);
  [[nodiscard]] TMA_JIT_API static Device emulated(const EmulatorSettings& settings);
  // "0", a name from known_devices(), "emulator", or "emulator:" and settings as parse_emulator reads them; those that
  // are left open, TMA_JIT_EMULATOR has when the engine is made. Fails on a name that is not known (not_found) and on
  // settings that cannot be read (invalid_argument).
  [[nodiscard]] TMA_JIT_API static Result<Device> parse(std::string_view text);

  Kind kind() const { return kind_; }
  int ordinal() const { return ordinal_; }  // 0 unless it is a GPU
  // What `parse` reads as this device.
  const std::string& text() const { return text_; }

  friend bool operator==(const Device&, const Device&) = default;

 private:
  Device(Kind kind, int ordinal, std::string text) : kind_(kind), ordinal_(ordinal), text_(std::move(text)) {}

  Kind kind_ = Kind::cuda;
  int ordinal_ = 0;
  std::string text_ = "0";
};

}  // namespace tma_jit
