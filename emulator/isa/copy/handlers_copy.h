// Bulk and tensor copies, and the groups that stores are waited for in. PTX ISA 9.0, "Data Movement and Conversion
// Instructions: Bulk copy", "Tensor copy".
#pragma once

#include <vector>

#include "emulator/program/program.h"
#include "emulator/tensor/box.h"
#include "emulator/tensor/transfer.h"

namespace tma_jit::emulator {

struct CopyForm : FormData {
  enum class Route : u8 { global_to_shared, shared_to_global, shared_to_shared, prefetch };
  Route route = Route::global_to_shared;
  bool tensor = false;
  tensor::Mode mode = tensor::Mode::tile;
  bool reduces = false;
  bool grouped = false;  // completes a bulk group, else an mbarrier
  bool pairs = false;    // .cta_group::2: a multicast signals one block of each pair
  tensor::Reduction reduction = tensor::Reduction::add;
  number::Format format = number::Format::u32;  // of a bulk reduction
  AddressOperand destination, source, map, barrier;
  std::vector<Place> coordinates, offsets;
  Place size, multicast, byte_mask;
  Place ignores;  // of cp.async: a predicate; where it holds, zeros come in place of the source
  std::vector<Place> reads() const override;
};

Step do_copy(Warp& warp, const Op& op, Mask active);
Step do_bulk_commit(Warp& warp, const Op& op, Mask active);
Step do_bulk_wait(Warp& warp, const Op& op, Mask active);  // immediate: groups that may be pending; kind 1: .read
Step do_prefetch_map(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator
