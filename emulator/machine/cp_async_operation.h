// cp.async, its arrivals on mbarriers, and st.async and red.async, in flight.
#pragma once

#include <memory>
#include <vector>

#include "emulator/machine/async_engine.h"
#include "emulator/ptx/type.h"

namespace tma_jit::emulator {
class Block;
}

namespace tma_jit::emulator {

// One cp.async of a warp. Performed lane by lane, the lower half of the lanes first.
class CpAsyncCopy : public AsyncOperation {
 public:
  struct Lane {
    u64 global;
    Block* target;
    u32 shared;  // offset
    u32 read;    // bytes; the rest of the destination is zero-filled
  };
  std::vector<Lane> lanes;
  u32 bytes = 0;
  bool done = false;
  bool perform(Machine& machine) override;

 private:
  std::size_t next_ = 0;
};

// An arrival on an mbarrier after the warp's earlier copies have completed (cp.async.mbarrier.arrive).
class CpAsyncArrival : public AsyncOperation {
 public:
  std::vector<std::shared_ptr<CpAsyncCopy>> before;
  Block* target = nullptr;
  u32 barrier = 0;
  check::ActorId channel = check::kNoActor;
  u32 time = 0;
  bool ready() const override;
  bool perform(Machine& machine) override;
};

class AsyncStore : public AsyncOperation {
 public:
  Block* target = nullptr;
  u32 shared = 0;
  Block* barrier_block = nullptr;
  u32 barrier = 0;
  std::vector<u8> bytes;
  u16 reduction = 0;  // 1 + the Atomic of red.async; 0 for st.async
  ptx::Type type = ptx::Type::none;
  bool perform(Machine& machine) override;
};

}  // namespace tma_jit::emulator
