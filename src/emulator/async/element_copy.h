// cp.async: copies of 4, 8 or 16 bytes a thread, through the generic proxy, and the groups they are waited for in.
// PTX ISA 9.0, "cp.async". Also asynchronous stores to other blocks: "st.async", "red.async".
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "emulator/async/engine.h"
#include "emulator/exec/program.h"

namespace tma_jit::emulator {

Step do_element_copy(Warp& warp, const Op& op, Mask active);  // [a] = [b], immediate bytes, c of them read
Step do_element_commit(Warp& warp, const Op& op, Mask active);
Step do_element_wait(Warp& warp, const Op& op, Mask active);    // immediate groups may be pending; ~0: wait_all
Step do_element_arrive(Warp& warp, const Op& op, Mask active);  // kind 1: .noinc
Step do_remote_store(Warp& warp, const Op& op, Mask active);  // [a] = list, then bytes on [b]; kind: Atomic + 1 for red

namespace async {

class ElementCopy;

// Of one warp: its lanes commit and wait together in every kernel there is.
struct ElementGroups {
  u32 committed = 0;
  std::vector<std::pair<u32, std::shared_ptr<ElementCopy>>> members;  // group, copy; not finished yet
  check::ActorId channel = check::kNobody;
};

// One instruction of a warp. Delivered lane by lane, the lower half of the lanes first.
class ElementCopy : public Operation {
 public:
  struct Lane {
    u64 global;
    Block* target;
    u32 shared;  // offset
    u32 read;    // bytes; the rest are zeros
  };
  std::vector<Lane> lanes;
  u32 bytes = 0;
  bool done = false;
  bool perform(Machine& machine) override;

 private:
  std::size_t next_ = 0;
};

// The arrival on an mbarrier when the warp's copies so far are done.
class ElementArrival : public Operation {
 public:
  std::vector<std::shared_ptr<ElementCopy>> before;
  Block* target = nullptr;
  u32 barrier = 0;
  check::ActorId channel = check::kNobody;
  u32 time = 0;
  bool ready() const override;
  bool perform(Machine& machine) override;
};

class RemoteStore : public Operation {
 public:
  Block* target = nullptr;
  u32 shared = 0;
  Block* barrier_block = nullptr;
  u32 barrier = 0;
  std::vector<u8> bytes;
  u16 reduction = 0;  // Atomic + 1; 0: a store
  ptx::Type type = ptx::Type::none;
  bool perform(Machine& machine) override;
};

}  // namespace async
}  // namespace tma_jit::emulator
