// Where tcgen05.mma puts D in tensor memory. PTX ISA 9.0, "Data Path Layout Organization".
#pragma once

#include "emulator/matrix/instruction_descriptor.h"
#include "emulator/matrix/tensor_memory.h"

namespace tma_jit::emulator::matrix {

// A CTA has `rows` rows of D. Its columns are cut into `parts` of equal width, each on 128 / parts lanes of its own and
// all beginning at D's column.
struct DataPath {
  u32 rows = 128;
  u32 parts = 1;
  bool spread = false;  // 16 rows in each 32 lanes (layout F)

  // Counted from D's lane.
  u32 lane(u32 part, u32 row) const {
    return part * (kTensorLanes / parts) + (spread ? row / 16 * 32 + row % 16 : row);
  }
};

// Layouts A and D: one part of 128 rows; B and E: two parts of 64; G: four of 32; F: 64 rows, spread.
DataPath data_path(const MmaForm& form, u32 m);

}  // namespace tma_jit::emulator::matrix
