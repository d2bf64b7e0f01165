// The tensors of a problem on the device, made for tuning.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/device.h>

namespace tma_jit::tuning {

// One tensor in memory of its own. Owns the memory.
struct MadeTensor {
  std::string name;
  Tensor tensor;  // with the address
  bool output = false;
  std::int64_t span = 0;  // elements from the first to the last, those between rows included
  DeviceBuffer buffer;
};

// The tensors that a plan has, with its shapes and strides, and at addresses as aligned as the plan's. Inputs hold
// random data: standard normal numbers, or integers of 0 to 3. The same each time.
[[nodiscard]] Result<std::vector<MadeTensor>> make_tensors(Engine& engine, const Plan& plan);

// An output like another, in memory of its own.
[[nodiscard]] Result<MadeTensor> made_like(Engine& engine, const MadeTensor& output);

// Fills an output with bytes of 0xFF, which is no number in a floating-point type.
[[nodiscard]] Result<void> poison(MadeTensor& output);

}  // namespace tma_jit::tuning
