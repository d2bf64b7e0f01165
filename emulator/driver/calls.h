// The functions of the emulator's table, by what they are about.
#pragma once

#include "driver/api.h"

namespace tma_jit::emulator {

inline constexpr int kDriverVersion = 13000;  // whose driver API this is

void fill_device_calls(driver::Api& api);
void fill_memory_calls(driver::Api& api);
void fill_kernel_calls(driver::Api& api);
void fill_tensor_map_calls(driver::Api& api);  // every documented demand, and then the emulator's own encoding

}  // namespace tma_jit::emulator
