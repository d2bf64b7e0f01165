// Bulk and tensor copies, and bulk groups. PTX ISA 9.0, "Data Movement and Conversion Instructions: Bulk copy", "Tensor
// copy".
#pragma once

#include <vector>

#include "emulator/program/program.h"
#include "emulator/tensor/box.h"
#include "emulator/tensor/transfer.h"

namespace tma_jit::emulator::isa {

struct CopyForm : FormData {
  enum class Route : u8 { global_to_shared, shared_to_global, shared_to_shared, prefetch };
  Route route = Route::global_to_shared;
  bool tensor = false;
  tensor::Mode mode = tensor::Mode::tile;
  bool reduces = false;
  bool grouped = false;  // completes a bulk group; otherwise completes on an mbarrier
  bool pairs = false;    // .cta_group::2: a multicast signals one block of each pair
  tensor::Reduction reduction = tensor::Reduction::add;
  numeric::Format format = numeric::Format::u32;  // of a bulk reduction
  AddressOperand destination, source, map, barrier;
  std::vector<RegisterRef> coordinates, offsets;
  RegisterRef size, multicast, byte_mask;
  RegisterRef ignores;  // predicate of cp.async: if true, the destination is zero-filled instead
  std::vector<RegisterRef> reads() const override;
};

Step do_copy(Warp& warp, const Op& op, Mask active);
Step do_bulk_commit(Warp& warp, const Op& op, Mask active);
Step do_bulk_wait(Warp& warp, const Op& op, Mask active);  // immediate: groups that may be pending; kind 1: .read
Step do_prefetch_map(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::isa
