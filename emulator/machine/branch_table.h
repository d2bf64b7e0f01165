// brx.idx: each lane branches to the label that its index selects.
#pragma once

#include <vector>

#include "emulator/program/program.h"

namespace tma_jit::emulator {

struct BranchTable : FormData {
  std::vector<u32> targets;
};

Step do_branch_table(Warp& warp, const Op& op, Mask active);  // a: the index

}  // namespace tma_jit::emulator
