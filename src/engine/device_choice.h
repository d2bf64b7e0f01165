// The device of an engine: the facts for planning and the context for launches.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include <tma_jit/engine.h>

#include "base/log.h"
#include "driver/context.h"

namespace tma_jit::engine {

// Opens the driver on first use. Thread-safe. Success is remembered; after a failure the next call tries again.
class EngineDevice {
 public:
  // Reads Options::device, arch and limits. For an emulated device, `emulator_defaults` gives the settings that the
  // device does not, `provider` is not used, and warnings go to the log.
  EngineDevice(const Options& options, std::string_view emulator_defaults, driver::Provider provider,
               const Logger& log);

  // For an ordinal, returns the driver's facts; if there is no such device and the options name a target, those of the
  // device that represents the target. Fails for an emulated device that cannot be opened, whatever the options name.
  [[nodiscard]] Result<DeviceInfo> facts();

  // Fails for a device known only by name. An emulated device has a context.
  [[nodiscard]] Result<driver::SharedContext> context();

  // Returns the form that the device's driver loads; opens an emulated device to find out. Cubins for a device known
  // only by name and for a GPU that is not opened yet.
  Artifact::Form takes();
  bool emulates() const { return device_.kind() == Device::Kind::emulated; }

  [[nodiscard]] Result<int> driver_version() const;

 private:
  [[nodiscard]] Result<DeviceInfo> read_facts();
  [[nodiscard]] Result<DeviceInfo> own_facts(const std::string& target);

  const Device device_;
  const std::string arch_;
  const std::optional<DeviceInfo> limits_;
  const std::optional<int> ordinal_;  // absent for a device known by name; the emulator's provider has one device
  const driver::Provider provider_;
  std::mutex mutex_;
  std::optional<DeviceInfo> facts_;
  driver::SharedContext context_;
};

}  // namespace tma_jit::engine
