// A device's facts, as the driver tells them.
#pragma once

#include <tma_jit/device_info.h>

#include "driver/api.h"

namespace tma_jit::driver {

// What the driver does not tell (peak rates, a memory clock of 0) comes from the data file of the device's name,
// scaled to its number of SMs; zero where no file matches.
[[nodiscard]] Result<DeviceInfo> read_device(const Api& api, CUdevice device);

// The exact target of a compute capability: 121 is "sm_121a", 89 is "sm_89".
std::string target_of(int compute_capability);

}  // namespace tma_jit::driver
