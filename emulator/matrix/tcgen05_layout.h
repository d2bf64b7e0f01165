// Where tcgen05.mma puts D in tensor memory. PTX ISA 9.0, "Data Path Layout Organization".
//
// Tensor memory has 128 lanes of 512 columns of 32 bits. D has fewer or more rows than lanes, depending on its shape,
// on .ws and on the number of CTAs, and PTX draws a figure for each combination, layouts A to G. All of them are one
// scheme: the columns of D are cut into equal parts, each part has a band of lanes of its own, and within its band a
// row is a lane, or 16 rows lie in each 32 lanes. Three numbers say which it is, so that products, loads and checks
// need no cases.
#pragma once

#include "emulator/matrix/instruction_descriptor.h"
#include "emulator/matrix/tensor_memory_layout.h"

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
