#include "emulator/machine/branch_table.h"

#include <bit>
#include <map>

#include "emulator/fault.h"
#include "emulator/machine/warp.h"

namespace tma_jit::emulator {

Step do_branch_table(Warp& warp, const Op& op, Mask active) {
  const auto& targets = static_cast<const BranchTable&>(*op.data).targets;
  std::map<u32, Mask> ways;
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    const u64 index = warp.lane(op.a, i);
    if (index >= targets.size()) {
      throw_fault(FaultKind::bounds, "lane {} branches to label {} of a table of {}", i, index, targets.size());
    }
    ways[targets[index]] |= Mask{1} << i;
  }
  warp.branch(ways);
  return Step::moved;
}

}  // namespace tma_jit::emulator
