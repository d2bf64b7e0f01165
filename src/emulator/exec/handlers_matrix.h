// Matrix instructions of one warp, on matrix/: mma.sync, ldmatrix, stmatrix, movmatrix.
#pragma once

#include <vector>

#include "emulator/exec/program.h"
#include "emulator/matrix/fragment.h"
#include "emulator/matrix/mma_sync.h"

namespace tma_jit::emulator {

struct MmaForm : FormData {
  matrix::MmaSync instruction;
  std::vector<Place> d, a, b, c;
  Place a_scales, b_scales;
};
Step do_mma(Warp& warp, const Op& op, Mask active);

// Op::a the address, Op::list the registers.
struct MatrixMoveForm : FormData {
  matrix::MatrixMove move;
};
Step do_load_matrix(Warp& warp, const Op& op, Mask active);
Step do_store_matrix(Warp& warp, const Op& op, Mask active);
Step do_transpose_matrix(Warp& warp, const Op& op, Mask active);  // d = a

}  // namespace tma_jit::emulator
