// Bulk and tensor copies in flight.
#pragma once

#include <array>
#include <vector>

#include "emulator/machine/accesses.h"
#include "emulator/machine/async_engine.h"
#include "emulator/machine/mbarrier_ops.h"
#include "emulator/tensor/box.h"
#include "emulator/tensor/transfer.h"

namespace tma_jit::emulator {

// The extent of a copy: a box of a tensor, or a contiguous range of bytes.
struct CopyExtent {
  bool tensor = false;
  tensor::Access access;  // of a box; `shared` is set for each target
  u64 global = 0;         // of a contiguous range
  u32 bytes = 0;

  // Returns the runs of bytes between global memory and shared memory at `shared`.
  std::vector<tensor::Run> runs(u32 shared, tensor::Direction direction) const;
  // Call tensor::for_each_piece() or for_each_contiguous() for one run.
  template <class F> void for_each_piece(const tensor::Run& run, F f) const {
    tensor ? tensor::for_each_piece(access.map, run, f) : f(run.shared, 0U, run.bytes);
  }
  template <class F> void for_each_contiguous(const tensor::Run& run, F f) const {
    tensor ? tensor::for_each_contiguous(access.map, run, f) : f(run.shared, run.bytes);
  }
  const char* what() const { return tensor ? "a tensor copy" : "a bulk copy"; }
  // Returns the number of bytes that the copy completes on its mbarrier.
  u32 transaction_bytes() const { return tensor ? tensor::transaction_bytes(access) : bytes; }
};

// A copy to the shared memory of one or more blocks that completes on an mbarrier in each. Performed in parts, each of
// which other threads may observe before the next.
class MbarrierCopy : public AsyncOperation {
 public:
  struct Target {
    Block* block;
    u32 shared;  // offset
    Block* barrier_block;
    u32 barrier;  // offset
  };
  CopyExtent extent;
  std::vector<Target> targets;
  bool reduces = false;
  tensor::Reduction reduction = tensor::Reduction::add;
  numeric::Format format = numeric::Format::u32;
  bool from_shared = false;  // shared to shared: `global` is an offset in the issuer's shared memory

  bool perform(Machine& machine) override;

 private:
  static std::vector<tensor::Run> cut(const std::vector<tensor::Run>& runs, u32 longest);
  void begin(Machine& machine);
  void deliver(Machine& machine, const Target& target, std::size_t last);
  void deliver_run(Machine& machine, const Target& target, const tensor::Run& run, SharedAccesses& writes,
                   GlobalAccesses& reads);

  std::vector<tensor::Run> runs_;  // of the current target
  std::size_t next_run_ = 0;
  std::size_t next_target_ = 0;
  u32 counted_ = 0;  // bytes completed on the target's mbarrier so far
  bool begun_ = false;
  std::vector<u8> bytes_;  // read from shared memory
};

// A copy from shared memory that completes a bulk group, in two steps: the read, which wait_group.read waits for, and
// the write.
class BulkGroupCopy : public AsyncOperation {
 public:
  CopyExtent extent;
  u32 shared = 0;  // offset in the issuer's block
  bool reduces = false;
  tensor::Reduction reduction = tensor::Reduction::add;
  numeric::Format format = numeric::Format::u32;
  u16 byte_mask = 0xffff;
  check::Stamp write_stamp;  // of its writes to global memory, which wait_group.read does not wait for

  bool read_done = false;
  bool written = false;
  bool waited = false;  // the issuer has waited at least for the read

  bool perform(Machine& machine) override;

 private:
  void read(Machine& machine);
  void write(Machine& machine);
  void write_run(Machine& machine, u64 global, const u8* bytes, u32 count, GlobalAccesses& writes) const;

  std::vector<tensor::Run> runs_;
  std::vector<u8> bytes_;
};

}  // namespace tma_jit::emulator
