// The groups of asynchronous copies that a thread or a warp waits for.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "emulator/check/clock.h"

namespace tma_jit::emulator {

class CpAsyncCopy;
class BulkGroupCopy;

// The bulk groups of one thread.
struct BulkGroups {
  struct Member {
    u32 group;
    std::shared_ptr<BulkGroupCopy> copy;
  };
  u32 committed = 0;
  std::vector<Member> members;  // those in flight
  check::ActorId channel = check::kNoActor, write_channel = check::kNoActor;
};

// The cp.async groups of one warp. Its lanes commit and wait together in all known kernels.
struct CpAsyncGroups {
  u32 committed = 0;
  std::vector<std::pair<u32, std::shared_ptr<CpAsyncCopy>>> members;  // group and copy, in flight
  check::ActorId channel = check::kNoActor;
};

}  // namespace tma_jit::emulator
