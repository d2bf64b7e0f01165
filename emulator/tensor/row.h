// One row of a box: its elements of dimension 0, cut where the tensor ends.
#pragma once

#include "emulator/tensor/box.h"

namespace tma_jit::emulator::tensor {

// Appends the runs of rows that follow each other in shared memory.
class RowWriter {
 public:
  RowWriter(const Access& access, Direction direction, std::vector<Run>& runs);

  // The next row. `offset` is that of its first element, in bytes from the map's address; a row that is not `inside`
  // the tensor in the other dimensions is filled, or left out of a store.
  void write(s64 offset, bool inside);

  // Elements that take whole bytes together: 1, 2 of b4x16, 16 of the padded formats.
  static u32 unit_elements(ElementType element);

 private:
  void write_units(s64 offset, s64 first, u32 units);
  void append(Run run);

  const TensorMap& map_;
  const Direction direction_;
  std::vector<Run>& runs_;
  const u32 global_unit_;  // bytes of a unit in global memory
  const u32 shared_unit_;  // bytes in shared memory, padding included
  const u32 units_;        // in a row
  const s64 first_;        // the row's first unit in dimension 0
  const s64 end_;          // units that a copy of this direction may touch, from 0
  u32 shared_;
};

}  // namespace tma_jit::emulator::tensor
