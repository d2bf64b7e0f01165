// The tensors of one launch on the device: allocated by what a plan says of them, filled, poisoned, read back.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include "data_options.h"
#include "layout.h"
#include "outcome.h"

namespace tma_jit::cli {

// Bytes before and after a tensor that nothing may write. A multiple of every alignment a kernel can ask for.
inline constexpr std::size_t kGuardBytes = 512;

struct DeviceTensor {
  std::string name;
  DType dtype = DType::f32;
  Layout layout;
  bool output = false;
  std::size_t origin = 0;  // of the first element, in bytes from the buffer's start
  DeviceBuffer buffer;

  Tensor view() const;  // as a request takes it
};

// Makes the tensors of a plan that are present. Inputs hold a file's content or random data; outputs are poisoned with
// 0xFF bytes unless a file is given; so are paddings and guards.
[[nodiscard]] Outcome<std::vector<DeviceTensor>> make_tensors(Engine& engine, const Plan& plan,
                                                              const DataChoices& choices);

// The whole buffer, guards included.
[[nodiscard]] Outcome<std::vector<std::byte>> download(const DeviceTensor& tensor);
// The elements alone, packed row-major. `buffer` is what download() gave.
std::vector<std::byte> packed(const DeviceTensor& tensor, const std::vector<std::byte>& buffer);

// A packed f64 output for the reference, poisoned, with its initial content where the tensor has one.
[[nodiscard]] Outcome<DeviceTensor> make_reference_output(Engine& engine, const DeviceTensor& output,
                                                          const DataChoices& choices);

}  // namespace tma_jit::cli
