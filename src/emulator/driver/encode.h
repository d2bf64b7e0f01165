// cuTensorMapEncode* of the emulator: every documented demand, and then the emulator's own encoding.
#pragma once

#include "driver/api.h"

namespace tma_jit::emulator {

void fill_tensor_map_calls(driver::Api& api);

}  // namespace tma_jit::emulator
