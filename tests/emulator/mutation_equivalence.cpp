// Mutants that are equivalent to the original kernel, and why.
#include "emulator/machine/control.h"
#include "emulator/mutation.h"

namespace tma_jit::testing {
namespace {

using emulator::Op;
using emulator::Program;

bool begins(const Op& op, std::string_view start) {
  return op.source != nullptr && op.source->opcode.starts_with(start);
}

// Returns whether an instruction neither accesses memory nor communicates with other threads.
bool is_private(const Op& op) {
  for (const char* start : {"ld.global",    "st.",        "ld.shared",  "ld.volatile", "ld.acquire",     "atom",
                            "red",          "mbarrier",   "cp.",        "bar",         "fence",          "shfl",
                            "vote",         "match",      "elect",      "wgmma",       "ldmatrix",       "stmatrix",
                            "mma",          "tcgen05.ld", "tcgen05.st", "tcgen05.mma", "tcgen05.commit", "tcgen05.cp",
                            "tcgen05.wait", "call"}) {
    if (begins(op, start)) return false;
  }
  return op.source != nullptr;
}

// Returns whether every path from `at` on reaches a barrier of all lanes, or the end, without an instruction that
// another thread could observe.
bool leads_to_barrier(const Program& program, std::size_t at, int depth) {
  for (int steps = 0; steps < 200 && at < program.ops.size(); ++steps) {
    const Op& op = program.ops[at];
    if (begins(op, "bar.warp.sync") || (op.convergence == emulator::Convergence::all && begins(op, "bar"))) return true;
    if (op.handler == emulator::do_exit && !op.guard) return true;
    if (op.handler == emulator::do_branch) {
      if (depth == 0) return false;
      if (op.guard && !leads_to_barrier(program, at + 1, depth - 1)) return false;
      at = op.target;
      continue;
    }
    if (!is_private(op)) return false;
    ++at;
  }
  return false;
}

}  // namespace

std::string_view equivalence_of(const Program& program, const Mutation& mutation) {
  const Op& op = program.ops[mutation.op];
  if (mutation.change == Change::remove && begins(op, "bar.warp.sync") && leads_to_barrier(program, mutation.op + 1, 6))
    return "the lanes meet again at a barrier of all of them, or leave, before any does what another could notice";
  if (mutation.change == Change::relax && (begins(op, "mbarrier.") || begins(op, "barrier.cluster")))
    return "only reads are ordered by it, for which relaxed suffices: of every word of shared memory the checks know "
           "whether it is seen, and not only whether it is over, whatever the schedule; and through global memory "
           "these "
           "kernels' threads tell each other nothing by mbarriers";
  if (mutation.change == Change::remove && begins(op, "fence.proxy.async"))
    return "what it follows are reads: of every word that was written the checks know whether its writer has executed "
           "a "
           "proxy fence since";
  if (mutation.change == Change::remove && begins(op, "tcgen05.fence::after"))
    return "what was waited for are a copy's bytes: of every column of tensor memory the checks know whether its last "
           "user is ordered by a fence, whatever the schedule";
  return {};
}

}  // namespace tma_jit::testing
