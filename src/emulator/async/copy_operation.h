// Copies in flight.
#pragma once

#include <array>
#include <vector>

#include "emulator/async/copy.h"
#include "emulator/async/mbarrier_ops.h"

namespace tma_jit::emulator::async {

// What a copy moves: a box of a tensor, or a stretch of bytes.
struct Extent {
  bool tensor = false;
  TensorMap map;
  TensorCoordinates coordinates;
  u64 global = 0;  // of a stretch
  u32 bytes = 0;
};

// Into the shared memory of one or more blocks; each block's mbarrier counts the bytes. Delivered in parts, each of
// which may be seen before the next.
class LoadCopy : public Operation {
 public:
  struct Target {
    Block* block;
    u32 shared;  // offset
    Block* barrier_block;
    u32 barrier;  // offset
  };
  Extent extent;
  std::vector<Target> targets;
  bool from_shared = false;  // shared to shared: `global` is an offset in the issuer's shared memory

  bool perform(Machine& machine) override;

 private:
  void begin(Machine& machine);
  u32 deliver(Machine& machine, const Target& target, u32 first, u32 last);
  u32 deliver_box(Machine& machine, const Target& target, const check::Access& access, u32 first, u32 last);
  u32 deliver_bytes(Machine& machine, const Target& target, const check::Access& access);

  u32 next_row_ = 0;
  std::size_t next_target_ = 0;
  bool begun_ = false;
  std::vector<u8> bytes_;  // read from shared memory
};

// Out of shared memory, in two steps: the read, which wait_group.read waits for, and the write.
class GroupedCopy : public Operation {
 public:
  Extent extent;
  u32 shared = 0;  // offset in the issuer's block
  bool reduces = false;
  Atomic reduction = Atomic::add;
  ptx::Type type = ptx::Type::none;
  u16 byte_mask = 0xffff;

  bool read_done = false;
  bool written = false;

  bool perform(Machine& machine) override;

 private:
  void read(Machine& machine);
  void write(Machine& machine);
  void write_run(Machine& machine, u64 global, const u8* bytes, u32 count) const;

  std::vector<u8> bytes_;
};

}  // namespace tma_jit::emulator::async
