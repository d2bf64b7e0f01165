// One row of a box: elements along dimension 0, split at the bounds of the tensor.
#pragma once

#include "emulator/tensor/box.h"

namespace tma_jit::emulator::tensor {

// Appends the runs of rows that are contiguous in shared memory.
class RowWriter {
 public:
  RowWriter(const Access& access, Direction direction, std::vector<Run>& runs);

  // Appends the next row. `offset` is the offset of its first element in bytes from the map's address. A row that is
  // not `inside` the tensor in the other dimensions is filled, or skipped by a store.
  void write(s64 offset, bool inside);

  // Returns the number of elements that share whole bytes: 1, 2 for b4x16, 16 for the padded formats.
  static u32 unit_elements(ElementType element);

 private:
  void write_units(s64 offset, s64 first, u32 units);
  void append(Run run);

  const TensorMap& map_;
  const Direction direction_;
  std::vector<Run>& runs_;
  const u32 global_unit_;  // bytes of a unit in global memory
  const u32 shared_unit_;  // bytes in shared memory, padding included
  const u32 units_;        // per row
  const s64 first_;        // the row's first unit in dimension 0
  const s64 end_;          // end of the units that a copy in this direction may access
  u32 shared_;
};

}  // namespace tma_jit::emulator::tensor
