// The emulator as a driver: a table of functions like libcuda's. Work is done when a call returns; a launch that the
// emulator stops is an error whose cuGetErrorString is the report.
#pragma once

#include "driver/api.h"
#include "emulator/driver/device.h"

namespace tma_jit::emulator {

// The functions, for this device. They are the same for all: a device is told by its ordinal, its context and handles.
driver::Api table_of(const Device& device);

}  // namespace tma_jit::emulator
