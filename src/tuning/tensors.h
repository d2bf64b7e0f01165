// The tensors of a problem, allocated on the device for tuning.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/device.h>

namespace tma_jit::tuning {

// One tensor and its memory, which it owns.
struct MadeTensor {
  std::string name;
  Tensor tensor;  // with its address
  bool output = false;
  std::int64_t span = 0;  // elements from the first to the last, including gaps between rows
  DeviceBuffer buffer;
};

// Allocates the tensors of a plan with its shapes and strides, at addresses aligned as the plan assumes. Inputs hold
// random data, the same each time: standard normal numbers, valid indices, or integers from 0 to 3.
[[nodiscard]] Result<std::vector<MadeTensor>> make_tensors(Engine& engine, const Plan& plan,
                                                           const SideStream* side = nullptr);

// Returns the bytes of the tensors that a contest allocates: inputs once, outputs twice.
[[nodiscard]] std::uint64_t contest_bytes(const Plan& plan);

// Allocates an output of the same layout.
[[nodiscard]] Result<MadeTensor> made_like(Engine& engine, const MadeTensor& output);

// Fills an output with bytes of 0xFF, which are NaN in every floating-point type.
[[nodiscard]] Result<void> poison(MadeTensor& output, const SideStream* side = nullptr);

}  // namespace tma_jit::tuning
