// The groups in which a thread or a warp waits for its copies.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "emulator/check/clock.h"

namespace tma_jit::emulator::async {

class ElementCopy;
class GroupedCopy;

// The bulk groups of one thread.
struct BulkGroups {
  struct Member {
    u32 group;
    std::shared_ptr<GroupedCopy> copy;
  };
  u32 committed = 0;
  std::vector<Member> members;  // not finished yet
  check::ActorId channel = check::kNobody, write_channel = check::kNobody;
};

// Of one warp: its lanes commit and wait together in every kernel there is.
struct ElementGroups {
  u32 committed = 0;
  std::vector<std::pair<u32, std::shared_ptr<ElementCopy>>> members;  // group, copy; not finished yet
  check::ActorId channel = check::kNobody;
};

}  // namespace tma_jit::emulator::async
