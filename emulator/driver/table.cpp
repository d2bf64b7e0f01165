#include "emulator/driver/table.h"

#include "emulator/driver/calls.h"

namespace tma_jit::emulator::driver {

tma_jit::driver::Api table_of(const Device& device) {
  tma_jit::driver::Api api;
  api.version = kDriverVersion;
  api.takes = Artifact::Form::ptx;
  api.only_device = device.ordinal;
  fill_device_calls(api);
  fill_memory_calls(api);
  fill_kernel_calls(api);
  fill_tensor_map_calls(api);
  return api;
}

}  // namespace tma_jit::emulator::driver
