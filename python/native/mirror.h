// Arrays of the host on an emulated device: copies in its memory, which a launch reads and whose results come back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tma_jit/device.h>

#include "array.h"

namespace tma_jit::python {

// Arrays that overlap, such as an input and an output in place, share one copy. A copy begins at an address that has
// the same remainder modulo 16 as the array's, so that a slice is as badly aligned as it would be on a GPU.
class Mirror {
 public:
  // Replaces the address of each tensor by its address on the device. Needs no lock of the interpreter.
  [[nodiscard]] static Result<Mirror> of(Engine& engine, std::span<Tensor* const> tensors);

  // Marks a tensor, which has its address on the device, as one that a launch writes.
  void mark_output(Tensor tensor);

  [[nodiscard]] Result<void> upload();
  // Copies the elements of the outputs back, and no byte between them, which may be another launch's.
  [[nodiscard]] Result<void> download() const;

 private:
  // Bytes of the host, and their copy.
  struct Region {
    std::uint64_t begin = 0, end = 0;
    std::optional<DeviceBuffer> copy{};
    std::uint64_t offset = 0;       // of the first byte in the copy
    std::vector<Tensor> outputs{};  // with their addresses in the host

    std::uint64_t address() const { return copy->address() + offset; }
    std::uint64_t size() const { return end - begin; }
    bool has_gaps() const;
    [[nodiscard]] Result<void> download() const;
  };

  [[nodiscard]] Result<void> allocate(Engine& engine);

  std::vector<Region> regions_;  // in the order of addresses, disjoint
};

}  // namespace tma_jit::python
