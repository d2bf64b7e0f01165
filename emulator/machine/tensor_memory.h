// A block's tensor memory while a kernel runs: who has allocated what, and what every part of it was last used for.
// PTX ISA 9.0, "Tensor Memory", "tcgen05 Memory Consistency Model".
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "emulator/check/clock.h"
#include "emulator/machine/async_engine.h"
#include "emulator/matrix/tensor_memory_layout.h"

namespace tma_jit::emulator::tcgen05 {

// One access, for the checks. `order` is what it is ordered after among tcgen05 operations; `seen` is what its thread
// has synchronised with, fenced or not, and only tells a missing fence from a race.
struct TensorAccessRecord {
  bool write = false;
  check::Stamp stamp;
  const check::Clock* order = nullptr;
  const check::Clock* seen = nullptr;
  const char* what = "";
};

// What a warp has to do with tensor memory. Its loads and its stores are channels of their own: an event of them is
// over with tcgen05.wait, and known to others with the next tcgen05.fence::before_thread_sync.
struct WarpState {
  check::ActorId loads = check::kNobody;
  check::ActorId stores = check::kNobody;
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

  // The first column of `columns` free ones, at a multiple of 32; nothing where there is no room now. Columns are taken
  // for all lanes.
  std::optional<u32> allocate(u32 columns, const Op& op);
  // Throws a tensor_memory fault where no such allocation begins at `column`, or where some access to it is not among
  // what the freeing warp has `seen`.
  void free(u32 column, u32 columns, const check::Clock& seen);
  bool relinquished = false;
  // Faults for allocations that a leaving block has not freed.
  void check_exit() const;

  u32* words() { return words_.data(); }
  // Checks that the region is allocated and, where checks are on, that the access races with no other.
  void record(const matrix::Region& region, const TensorAccessRecord& access);

  // All instructions of a kernel name the same .cta_group.
  void use_group(u32 group);

  WarpState& state_of(Warp& warp);
  // The tcgen05.ld that owns a register of the warp, by its index into Warp::in_flight; null where none does.
  const Op* load_of(const Warp& warp, u32 index) const;
  Block& block() { return block_; }

  async::Queue queue;  // mma, cp, shift and commit, in the order of their issue
  u32 issued = 0;      // events of the queue's channel
  check::ActorId channel();

 private:
  // 32 lanes of a column.
  struct Cell {
    check::Stamp writer;
    std::array<check::Stamp, 4> readers{};
    Mask initialised = 0;
  };

  void check_over(u32 column, u32 columns, const check::Clock& seen) const;
  void check_allocated(const matrix::Region& region, const char* what) const;
  void record_cell(Cell& cell, Mask lanes, u32 lane, u32 column, const TensorAccessRecord& access);
  [[noreturn]] void report(const check::Stamp& other, bool other_writes, u32 lane, u32 column,
                           const TensorAccessRecord& access) const;

  Machine& machine_;
  Block& block_;
  std::vector<u32> words_;
  std::vector<Cell> cells_;
  std::array<u16, matrix::kTensorColumns> owner_{};  // 1 + the first column of the allocation; 0 for free
  std::map<u32, const Op*> allocated_;               // by first column: by which tcgen05.alloc
  std::vector<WarpState> warps_;
  check::ActorId channel_ = check::kNobody;
  u32 group_ = 0;
};

// The block's, made at the first use.
TensorMemory& tensor_memory_of(Machine& machine, Block& block);

// What a leaving block must have freed; nothing for blocks that never used tensor memory.
void check_exit(const Block& block);

}  // namespace tma_jit::emulator::tcgen05
