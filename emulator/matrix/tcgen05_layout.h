// The layout of D of tcgen05.mma in tensor memory. PTX ISA 9.0, "Data Path Layout Organization".
//
// Tensor memory has 128 lanes of 512 columns of 32 bits. The number of rows of D per CTA depends on its shape, on .ws
// and on the number of CTAs; PTX defines layouts A to G. All of them follow one scheme: the columns of D are divided
// into equal parts, each part has a range of lanes of its own, and within that range either each lane holds a row, or
// each 32 lanes hold 16 rows. DataPath describes the scheme with three numbers.
#pragma once

#include "emulator/matrix/instruction_descriptor.h"
#include "emulator/matrix/tensor_memory_layout.h"

namespace tma_jit::emulator::matrix {

// A CTA holds `rows` rows of D. Its columns are divided into `parts` of equal width, each on 128 / parts lanes and
// beginning at D's column.
struct DataPath {
  u32 rows = 128;
  u32 parts = 1;
  bool spread = false;  // 16 rows in each 32 lanes (layout F)

  // Returns the lane relative to D's lane.
  u32 lane(u32 part, u32 row) const {
    return part * (kTensorLanes / parts) + (spread ? row / 16 * 32 + row % 16 : row);
  }
};

// Layouts A and D: one part of 128 rows; B and E: two parts of 64; G: four of 32; F: 64 rows, spread.
DataPath data_path(const MmaForm& form, u32 m);

}  // namespace tma_jit::emulator::matrix
