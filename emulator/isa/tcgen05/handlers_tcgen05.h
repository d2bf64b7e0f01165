// Instructions of the tcgen05 family. PTX ISA 9.0, "TensorCore 5th Generation Family Instructions".
#pragma once

#include "emulator/matrix/tcgen05_mma.h"
#include "emulator/matrix/tcgen05_move.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator::tcgen05 {

// Op::immediate is the CTA group.
Step do_alloc(Warp& warp, const Op& op, Mask active);    // [a + offset] = the address of b columns
Step do_dealloc(Warp& warp, const Op& op, Mask active);  // b columns from a
Step do_relinquish(Warp& warp, const Op& op, Mask active);

struct MoveForm : FormData {
  matrix::TensorAccess access;  // without the address
  AddressOperand address;
  std::vector<Place> reads() const override { return {address.base}; }
};
Step do_load(Warp& warp, const Op& op, Mask active);   // list = the address's
Step do_store(Warp& warp, const Op& op, Mask active);  // the address's = list
Step do_wait(Warp& warp, const Op& op, Mask active);   // kind 1: for stores

struct MmaInstruction : FormData {
  matrix::MmaForm form;
  bool a_in_tensor = false;
  AddressOperand d, tensor_a, a_scales, b_scales;
  Place a, b, descriptor, accumulate, zero_columns;
  std::vector<Place> disabled_lanes;
  u32 scale_input = 0;
  std::vector<Place> reads() const override;
};
Step do_mma(Warp& warp, const Op& op, Mask active);

struct CopyInstruction : FormData {
  u32 group = 1;
  matrix::CopyShape shape = matrix::CopyShape::m128x256b;
  matrix::Decompression decompression = matrix::Decompression::none;
  AddressOperand address;
  Place descriptor;
  std::vector<Place> reads() const override { return {address.base, descriptor}; }
};
Step do_copy_to_tensor(Warp& warp, const Op& op, Mask active);
Step do_shift(Warp& warp, const Op& op, Mask active);  // the lanes of [a + offset]
Step do_commit(Warp& warp, const Op& op,
               Mask active);  // on the mbarrier at [a + offset]; b: blocks of the cluster, if there
Step do_fence_before(Warp& warp, const Op& op, Mask active);
Step do_fence_after(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::tcgen05
