// The functions of the driver table, by subject.
#pragma once

#include "driver/api.h"

namespace tma_jit::emulator::driver {

inline constexpr int kDriverVersion = 13000;  // the version of the driver API

void fill_device_calls(tma_jit::driver::Api& api);
void fill_memory_calls(tma_jit::driver::Api& api);
void fill_kernel_calls(tma_jit::driver::Api& api);
void fill_tensor_map_calls(
    tma_jit::driver::Api& api);  // checks the documented requirements, then uses the emulator's own encoding

}  // namespace tma_jit::emulator::driver
