// Which device an engine is for: the facts it plans with, and the context it launches in.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include <tma_jit/engine.h>

#include "base/log.h"
#include "driver/context.h"

namespace tma_jit {

// Opens the driver at first need. Thread-safe. A success is remembered; a failure is tried again by the next call.
class EngineDevice {
 public:
  // Reads Options::device, arch and limits.
  EngineDevice(const Options& options, driver::Provider provider);

  // An ordinal's facts are the driver's; where it has none and the options name a target, those of the device that
  // stands for the target.
  Result<DeviceInfo> facts();

  // Fails for an engine whose device is a name; the emulator is a device, not a name.
  Result<driver::SharedContext> context();

  Result<int> driver_version() const;

  // Where the device is the emulator, its warnings go to the log from now on.
  void report_emulation(const Logger& log) const;

 private:
  Result<DeviceInfo> read_facts();
  Result<DeviceInfo> own_facts(const std::string& target);

  const std::string device_;
  const std::string arch_;
  const std::optional<DeviceInfo> limits_;
  const std::optional<int> ordinal_;  // nothing for a name
  const driver::Provider provider_;
  std::mutex mutex_;
  std::optional<DeviceInfo> facts_;
  driver::SharedContext context_;
};

}  // namespace tma_jit
