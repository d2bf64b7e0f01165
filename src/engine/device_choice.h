// Which device an engine is for: the facts it plans with, and the context it launches in.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include <tma_jit/engine.h>

#include "base/log.h"
#include "driver/context.h"

namespace tma_jit::engine {

// Opens the driver at first need. Thread-safe. A success is remembered; a failure is tried again by the next call.
class EngineDevice {
 public:
  // Reads Options::device, arch and limits. Where the device is the emulator, `emulator_defaults` are its settings that
  // the device leaves open, `provider` is not used, and warnings go to the log.
  EngineDevice(const Options& options, std::string_view emulator_defaults, driver::Provider provider,
               const Logger& log);

  // An ordinal's facts are the driver's; where it has none and the options name a target, those of the device that
  // stands for the target. An emulated device that cannot be opened is an error whatever the options name.
  [[nodiscard]] Result<DeviceInfo> facts();

  // Fails for an engine whose device is a name; the emulator is a device, not a name.
  [[nodiscard]] Result<driver::SharedContext> context();

  // What the device's driver loads, as it says itself: an emulated device is opened for that. Of a name, and of a GPU
  // that nobody has opened yet, cubins.
  Artifact::Form takes();

  [[nodiscard]] Result<int> driver_version() const;

 private:
  [[nodiscard]] Result<DeviceInfo> read_facts();
  [[nodiscard]] Result<DeviceInfo> own_facts(const std::string& target);

  const Device device_;
  const std::string arch_;
  const std::optional<DeviceInfo> limits_;
  const std::optional<int> ordinal_;  // nothing for a name; the emulator's provider has one device
  const driver::Provider provider_;
  std::mutex mutex_;
  std::optional<DeviceInfo> facts_;
  driver::SharedContext context_;
};

}  // namespace tma_jit::engine
