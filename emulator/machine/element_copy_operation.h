// cp.async, its arrivals on mbarriers, and stores to other blocks, in flight.
#pragma once

#include <memory>
#include <vector>

#include "emulator/machine/async_engine.h"
#include "emulator/ptx/type.h"

namespace tma_jit::emulator {
class Block;
}

namespace tma_jit::emulator::async {

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

}  // namespace tma_jit::emulator::async
