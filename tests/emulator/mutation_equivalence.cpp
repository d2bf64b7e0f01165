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

// Returns whether every path from `at` on reaches an instruction that all lanes execute together, or the end, without
// an instruction that another thread could observe.
bool leads_to_barrier(const Program& program, std::size_t at, int depth) {
  for (int steps = 0; steps < 200 && at < program.ops.size(); ++steps) {
    const Op& op = program.ops[at];
    if (begins(op, "bar.warp.sync") || op.convergence == emulator::Convergence::all) return true;
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

bool is_branched_to(const Program& program, std::size_t first, std::size_t last) {
  for (const Op& op : program.ops) {
    if (op.handler == emulator::do_branch && op.target >= first && op.target <= last) return true;
  }
  return false;
}

// Returns whether the lanes met before `at`, at an instruction that all of them execute together, and since have done
// nothing that another thread could observe. After a product, whose operands they all have read by then, a proxy fence
// orders only reads.
bool follows_meeting(const Program& program, std::size_t at) {
  bool fenced = false;
  for (std::size_t i = at; i-- > 0;) {
    const Op& op = program.ops[i];
    if (op.convergence == emulator::Convergence::all)
      return (!fenced || begins(op, "mma.")) && !is_branched_to(program, i + 1, at);
    if (op.handler == emulator::do_branch) return false;
    fenced = fenced || begins(op, "fence.proxy.async");
    if (!is_private(op) && !begins(op, "fence.proxy.async") && !begins(op, "tcgen05.fence")) return false;
  }
  return false;
}

// Returns whether the thread executes another instruction of that name before any that another thread, or the copy
// engine, could observe; initialised barriers are observed only after one.
bool leads_to_another(const Program& program, std::size_t at, std::string_view opcode) {
  for (; at < program.ops.size(); ++at) {
    const Op& op = program.ops[at];
    if (begins(op, opcode)) return !op.guard;
    if (op.handler == emulator::do_exit || op.handler == emulator::do_branch) return false;
    if (!is_private(op) && !begins(op, "mbarrier.init")) return false;
  }
  return false;
}

}  // namespace

std::string_view equivalence_of(const Program& program, const Mutation& mutation) {
  const Op& op = program.ops[mutation.op];
  if (mutation.change == Change::remove && begins(op, "bar.warp.sync") && leads_to_barrier(program, mutation.op + 1, 6))
    return "the lanes meet again at an instruction of all of them, or leave, before any does what another could notice";
  if (mutation.change == Change::remove && begins(op, "bar.warp.sync") && follows_meeting(program, mutation.op))
    return "the lanes have met at the instruction before, and since done nothing that another could notice";
  if (mutation.change == Change::relax && (begins(op, "mbarrier.") || begins(op, "barrier.cluster")))
    return "only reads are ordered by it, for which relaxed suffices: of every word of shared memory the checks know "
           "whether it is seen, and not only whether it is over, whatever the schedule; and through global memory "
           "these "
           "kernels' threads tell each other nothing by mbarriers";
  if (mutation.change == Change::remove && begins(op, "fence.proxy.async"))
    return "what it follows are reads: of every word that was written the checks know whether its writer has executed "
           "a "
           "proxy fence since";
  if (mutation.change == Change::remove && begins(op, "fence.mbarrier_init") &&
      leads_to_another(program, mutation.op + 1, "fence.mbarrier_init"))
    return "the thread executes another before it lets anyone know of the barriers";
  if (mutation.change == Change::remove && begins(op, "wgmma.fence"))
    return "no other instruction has accessed the registers of the products since the fence before: of every register "
           "the checks know whether one has, whatever the schedule";
  if (mutation.change == Change::remove && begins(op, "tcgen05.wait::ld"))
    return "another wait comes before any use: of every register that is being loaded the checks know whether it has "
           "been waited for, whatever the schedule";
  if (mutation.change == Change::remove && begins(op, "tcgen05.fence::after"))
    return "what was waited for are a copy's bytes: of every column of tensor memory the checks know whether its last "
           "user is ordered by a fence, whatever the schedule";
  return {};
}

}  // namespace tma_jit::testing
