// A block's tensor memory during a launch: its allocations and the last accesses to each cell. PTX ISA 9.0, "Tensor
// Memory", "tcgen05 Memory Consistency Model".
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "emulator/check/clock.h"
#include "emulator/machine/async_engine.h"
#include "emulator/matrix/tensor_memory_layout.h"

namespace tma_jit::emulator {

// One access, for the checks. `order` covers the tcgen05 operations that precede it. `seen` covers everything that its
// thread has synchronised with, fenced or not, and only distinguishes a missing fence from a race.
struct TensorAccessRecord {
  bool write = false;
  check::Stamp stamp;
  const check::Clock* order = nullptr;
  const check::Clock* seen = nullptr;
  const char* what = "";
};

// The state of a warp with respect to tensor memory. Its loads and its stores are two channels: an event of them
// completes with tcgen05.wait, and is released to others by the next tcgen05.fence::before_thread_sync.
struct TensorMemoryState {
  check::ActorId loads = check::kNoActor;
  check::ActorId stores = check::kNoActor;
  u32 loaded = 0, stored = 0;               // events issued
  u32 waited_loads = 0, waited_stores = 0;  // events waited for
  check::Clock order;                       // raised by fence::after_thread_sync
  struct Owned {
    u32 index;       // into Warp::in_flight
    const Op* load;  // that will write the register
  };
  std::vector<Owned> in_flight;
};

class TensorMemory {
 public:
  TensorMemory(Machine& machine, Block& block);

  // Allocates `columns` free columns in all lanes and returns the first, a multiple of 32; nullopt if there is no space
  // now.
  std::optional<u32> allocate(u32 columns, const Op& op);
  // Throws Fault{tensor_memory} if no such allocation begins at `column`, or if an access to it is not ordered before
  // the free, i.e. not covered by `seen`.
  void free(u32 column, u32 columns, const check::Clock& seen);
  bool relinquished = false;
  // Throws a fault if the exiting block has not freed all allocations.
  void check_exit() const;

  u32* words() { return words_.data(); }
  // Checks that the region is allocated and, if checks are enabled, that the access races with no other.
  void record(const matrix::Region& region, const TensorAccessRecord& access);

  // Checks that all instructions of a kernel use the same .cta_group.
  void use_group(u32 group);

  TensorMemoryState& state_of(Warp& warp);
  // Returns the tcgen05.ld that owns a register of the warp, given its index in Warp::in_flight; null if there is none.
  const Op* load_of(const Warp& warp, u32 index) const;
  Block& block() { return block_; }

  AsyncQueue queue;  // mma, cp, shift and commit, in issue order
  u32 issued = 0;    // number of events of the queue's channel
  check::ActorId channel();

 private:
  // The lanes of one column that an operation may access without the next ones.
  static constexpr u32 kCellLanes = 16;
  struct Cell {
    check::Stamp writer;
    std::array<check::Stamp, 4> readers{};
    Mask initialised = 0;
  };

  void check_over(u32 column, u32 columns, const check::Clock& seen) const;
  void check_allocated(const matrix::Region& region, const char* what) const;
  Cell& cell_at(u32 lane, u32 column) { return cells_[lane / kCellLanes * matrix::kTensorColumns + column]; }
  void check_initialised(const matrix::Region& region, const char* what);
  void record_cell(Cell& cell, Mask lanes, u32 lane, u32 column, const TensorAccessRecord& access);
  [[noreturn]] void report(const check::Stamp& other, bool other_writes, u32 lane, u32 column,
                           const TensorAccessRecord& access) const;

  Machine& machine_;
  Block& block_;
  std::vector<u32> words_;
  std::vector<Cell> cells_;
  std::array<u16, matrix::kTensorColumns> owner_{};  // 1 + the first column of the allocation; 0 if free
  std::map<u32, const Op*> allocated_;               // by first column: the tcgen05.alloc
  std::vector<TensorMemoryState> warps_;
  check::ActorId channel_ = check::kNoActor;
  u32 group_ = 0;
};

// Returns the tensor memory of the block, which the first use creates.
TensorMemory& tensor_memory_of(Machine& machine, Block& block);

// Checks that an exiting block has freed its tensor memory, if it used any.
void check_tensor_memory_freed(const Block& block);

}  // namespace tma_jit::emulator
