// Bulk and tensor copies, and the groups that stores are waited for in. PTX ISA 9.0, "Data Movement and Conversion
// Instructions: Bulk copy", "Tensor copy".
#pragma once

#include <memory>
#include <vector>

#include "emulator/async/engine.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/program.h"
#include "emulator/tensor/box.h"
#include "emulator/tensor/transfer.h"

namespace tma_jit::emulator {

// An address operand: a place and a constant.
struct AddressOperand {
  Place base;
  s64 offset = 0;
};

struct CopyForm : FormData {
  enum class Route : u8 { global_to_shared, shared_to_global, shared_to_shared, prefetch };
  Route route = Route::global_to_shared;
  bool tensor = false;
  tensor::Mode mode = tensor::Mode::tile;
  bool reduces = false;
  bool grouped = false;  // completes a bulk group, else an mbarrier
  tensor::Reduction reduction = tensor::Reduction::add;
  number::Format format = number::Format::u32;  // of a bulk reduction
  AddressOperand destination, source, map, barrier;
  std::vector<Place> coordinates, offsets;
  Place size, multicast, byte_mask;
  Place ignores;  // of cp.async: a predicate; where it holds, zeros come in place of the source
};

Step do_copy(Warp& warp, const Op& op, Mask active);
Step do_bulk_commit(Warp& warp, const Op& op, Mask active);
Step do_bulk_wait(Warp& warp, const Op& op, Mask active);  // immediate: groups that may be pending; kind 1: .read
Step do_prefetch_map(Warp& warp, const Op& op, Mask active);

namespace async {

// The bulk groups of one thread.
struct BulkGroups {
  struct Member {
    u32 group;
    std::shared_ptr<class GroupedCopy> copy;
  };
  u32 committed = 0;
  std::vector<Member> members;  // not finished yet
  check::ActorId channel = check::kNobody, write_channel = check::kNobody;
};

}  // namespace async
}  // namespace tma_jit::emulator
