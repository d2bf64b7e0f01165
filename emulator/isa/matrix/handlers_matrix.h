// Matrix instructions of one warp, implemented by matrix/: mma.sync, ldmatrix, stmatrix, movmatrix.
#pragma once

#include <vector>

#include "emulator/matrix/fragment.h"
#include "emulator/matrix/mma_sync.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

struct MmaForm : FormData {
  matrix::MmaSync instruction;
  std::vector<RegisterRef> d, a, b, c;
  RegisterRef a_scales, b_scales;
  std::vector<RegisterRef> reads() const override;
  std::vector<RegisterRef> writes() const override { return d; }
};
Step do_mma(Warp& warp, const Op& op, Mask active);

// Op::a is the address, Op::list the registers.
struct MatrixMoveForm : FormData {
  matrix::MatrixMove move;
};
Step do_load_matrix(Warp& warp, const Op& op, Mask active);
Step do_store_matrix(Warp& warp, const Op& op, Mask active);
Step do_transpose_matrix(Warp& warp, const Op& op, Mask active);  // d = a

}  // namespace tma_jit::emulator::isa
