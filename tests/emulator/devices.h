// Emulated devices of this program, which has the emulator linked in and looks inside it.
#pragma once

#include <string_view>

#include "driver/api.h"
#include "emulator/driver/device.h"

namespace tma_jit {
class Engine;
}

namespace tma_jit::testing {

// The device for a target, e.g. "sm_90a": one for all tests, made when it is first asked for.
emulator::Device& device_of(std::string_view arch);

// Its table of functions.
driver::Api table_of(std::string_view arch);
driver::Provider driver_of(std::string_view arch);

// An engine on the device for a target, with a cache folder that all of these engines share.
Engine emulated_engine(std::string_view arch);

}  // namespace tma_jit::testing
