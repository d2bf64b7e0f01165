// Instructions of the tcgen05 family. PTX ISA 9.0, "TensorCore 5th Generation Family Instructions".
#pragma once

#include "emulator/matrix/tcgen05_mma.h"
#include "emulator/matrix/tcgen05_move.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

// Op::immediate is the CTA group.
Step do_tcgen05_alloc(Warp& warp, const Op& op, Mask active);    // [a + offset] = the address of b columns
Step do_tcgen05_dealloc(Warp& warp, const Op& op, Mask active);  // b columns from a
Step do_tcgen05_relinquish(Warp& warp, const Op& op, Mask active);

struct Tcgen05MoveForm : FormData {
  matrix::TensorAccess access;  // address excluded
  AddressOperand address;
  std::vector<RegisterRef> reads() const override { return {address.base}; }
};
Step do_tcgen05_ld(Warp& warp, const Op& op, Mask active);    // list = tensor memory at the address
Step do_tcgen05_st(Warp& warp, const Op& op, Mask active);    // tensor memory at the address = list
Step do_tcgen05_wait(Warp& warp, const Op& op, Mask active);  // kind 1: for stores

struct Tcgen05MmaForm : FormData {
  matrix::MmaForm form;
  bool a_in_tensor = false;
  AddressOperand d, tensor_a, a_scales, b_scales;
  RegisterRef a, b, descriptor, accumulate, zero_columns;
  std::vector<RegisterRef> disabled_lanes;
  u32 scale_input = 0;
  std::vector<RegisterRef> reads() const override;
};
Step do_tcgen05_mma(Warp& warp, const Op& op, Mask active);

struct Tcgen05CopyForm : FormData {
  u32 group = 1;
  matrix::CopyShape shape = matrix::CopyShape::m128x256b;
  matrix::Decompression decompression = matrix::Decompression::none;
  AddressOperand address;
  RegisterRef descriptor;
  std::vector<RegisterRef> reads() const override { return {address.base, descriptor}; }
};
Step do_tcgen05_cp(Warp& warp, const Op& op, Mask active);
Step do_tcgen05_shift(Warp& warp, const Op& op, Mask active);  // the lanes of [a + offset]
Step do_tcgen05_commit(Warp& warp, const Op& op,
                       Mask active);  // on the mbarrier at [a + offset]; b: multicast mask, optional
Step do_tcgen05_fence_before(Warp& warp, const Op& op, Mask active);
Step do_tcgen05_fence_after(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::isa
