// The tensors of one launch on the device: allocated as the plan describes them, filled, poisoned, and read back.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include "data_options.h"
#include "layout.h"
#include "outcome.h"

namespace tma_jit::cli {

// Bytes before and after a tensor that must not be written. A multiple of every alignment that a kernel can require.
inline constexpr std::size_t kGuardBytes = 512;

struct DeviceTensor {
  std::string name;
  DType dtype = DType::f32;
  Layout layout;
  bool output = false;
  std::size_t origin = 0;  // of the first element, in bytes from the buffer's start
  DeviceBuffer buffer;

  Tensor view() const;  // for a request
};

// Allocates the tensors of a plan that are present. Inputs contain a file's content or random data. Outputs are
// poisoned with 0xFF bytes unless a file is given; paddings and guards always are, except for those guards that
// DataChoices::bare leaves out.
[[nodiscard]] Outcome<std::vector<DeviceTensor>> make_tensors(Engine& engine, const Plan& plan,
                                                              const DataChoices& choices);

// Fills those inputs again that a file gives.
[[nodiscard]] Outcome<void> restore_inputs(const DataChoices& choices, std::vector<DeviceTensor>& tensors);

// Returns the whole buffer, including guards.
[[nodiscard]] Outcome<std::vector<std::byte>> download(const DeviceTensor& tensor);
// Returns only the elements, packed row-major. `buffer` is the result of download().
std::vector<std::byte> packed(const DeviceTensor& tensor, const std::vector<std::byte>& buffer);

// Returns a packed f64 output for the reference, poisoned, or with the tensor's initial content if it has one.
[[nodiscard]] Outcome<DeviceTensor> make_reference_output(Engine& engine, const DeviceTensor& output,
                                                          const DataChoices& choices);

}  // namespace tma_jit::cli
