// The emulator as a driver: a table of functions with libcuda's signatures. All calls are synchronous. A faulting
// launch returns an error, and cuGetErrorString returns the report.
#pragma once

#include "driver/api.h"
#include "emulator/driver/device.h"

namespace tma_jit::emulator::driver {

// Returns the functions, which are the same for all devices: ordinals, contexts and handles identify the device.
tma_jit::driver::Api table_of(const Device& device);

}  // namespace tma_jit::emulator::driver
