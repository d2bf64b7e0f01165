// Emulated devices of the test program, which links the emulator statically to access its internals.
#pragma once

#include <string_view>

#include <tma_jit/options.h>

#include "driver/api.h"
#include "emulator/driver/device.h"

namespace tma_jit {
class Engine;
}

namespace tma_jit::testing {

// Returns the device for a target, e.g. "sm_90a", which is created at first use and shared by all tests.
emulator::driver::Device& device_of(std::string_view arch);

// Return its driver table.
driver::Api table_of(std::string_view arch);
driver::Provider driver_of(std::string_view arch);

// Returns options with a cache folder that all tests share: CTest's, or one of this process.
Options sharing_options();

// Returns an engine on the device for a target, with these options.
Engine emulated_engine(std::string_view arch);

}  // namespace tma_jit::testing
