// A device's facts, read from the driver.
#pragma once

#include <tma_jit/device_info.h>

#include "driver/api.h"

namespace tma_jit::driver {

// Facts that the driver does not report (peak rates, a memory clock of 0) come from the data file of the device's name,
// scaled to its number of SMs; they are zero if no file matches.
[[nodiscard]] Result<DeviceInfo> read_device(const Api& api, CUdevice device);

// Returns the exact target of a compute capability: "sm_121a" for 121, "sm_89" for 89.
std::string target_of(int compute_capability);

}  // namespace tma_jit::driver
