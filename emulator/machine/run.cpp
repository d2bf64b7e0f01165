// The scheduler: selects the warp that runs, for how long, and when asynchronous operations are performed.
//
// Errors of a kernel show only in some of the orders that hardware may choose. The order is therefore random, from one
// seeded generator in one thread, so that a seed reproduces a run. In each round the engine of asynchronous operations
// may perform a step, as the policy decides. Then a runnable warp is picked, with equal probability, and executes up to
// a quantum of instructions. The lanes of a warp form subwarps, each with a program counter. The subwarp with the
// lowest program counter runs first, so that subwarps reconverge, and at times another one, because PTX guarantees
// progress to each thread. A waiting warp leaves the list of runnable warps until a barrier, an mbarrier or an
// operation wakes it. If the list is empty, the engine must complete something; if it has nothing in flight either,
// that is a deadlock. Warps that poll are always runnable: the instructions since the last visible change of state are
// counted. Beyond one limit the engine performs steps, beyond a larger limit a livelock is reported. A round costs O(1)
// in addition to its instructions.
#include <exception>

#include "emulator/fault.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/mbarrier_ops.h"
#include "emulator/machine/observer.h"

namespace tma_jit::emulator {
namespace {

// The subwarps of a warp may wait for each other in a loop. PTX guarantees progress to every thread, so that others are
// selected after so many runs.
constexpr u32 kRunsBeforeOthers = 32;

// The maximum number of uniform branches before the lanes of a warp are split at one.
constexpr u32 kBranchesBeforeSplit = 128;

// Warps that poll for the result of an operation are always runnable. After this many instructions without a change of
// state the engine performs this many parts of operations, under every policy.
constexpr u64 kPollsBeforeSteps = 20'000;
constexpr int kStepsWhilePolling = 32;

}  // namespace

Counters Machine::run() {
  try {
    loop();
    flush_print();
    finish_observer();
  } catch (Fault& fault) {
    flush_print();
    complete_location(fault);
    finish_observer();
    fault.location += fmt::format("\n  again with --device emulator:{}:policy={},seed={},processors={}", device_.arch,
                                  policy_name(settings_.policy), settings_.seed, device_.sm_count);
    if (settings_.instruction_limit != kEmulatorInstructions)
      fault.location += fmt::format(",instructions={}", settings_.instruction_limit);
    throw;
  }
  return counters_;
}

Dim3 Machine::cluster_at(u64 number) const {
  const Dim3& grid = shape_.grid;
  const Dim3& extents = shape_.cluster;
  const Dim3 clusters = {grid[0] / extents[0], grid[1] / extents[1], grid[2] / extents[2]};
  return {static_cast<u32>(number % clusters[0]), static_cast<u32>(number / clusters[0] % clusters[1]),
          static_cast<u32>(number / clusters[0] / clusters[1])};
}

Dim3 Machine::take_next_cluster() {
  return cluster_at(next_cluster_++);
}

std::optional<Dim3> Machine::cancel_next_cluster() {
  if (next_cluster_ >= cluster_count_) return std::nullopt;
  Dim3 first = take_next_cluster();
  for (std::size_t i = 0; i < first.size(); ++i) first[i] *= shape_.cluster[i];
  return first;
}

void Machine::start_cluster() {
  const Dim3& extents = shape_.cluster;
  auto cluster = std::make_unique<Cluster>();
  cluster->number = next_cluster_;
  cluster->index = take_next_cluster();
  u32 rank = 0;
  for (u32 z = 0; z < extents[2]; ++z) {
    for (u32 y = 0; y < extents[1]; ++y) {
      for (u32 x = 0; x < extents[0]; ++x) {
        const Dim3 index = {cluster->index[0] * extents[0] + x, cluster->index[1] * extents[1] + y,
                            cluster->index[2] * extents[2] + z};
        cluster->blocks.push_back(std::make_unique<Block>(*this, *cluster, index, rank++));
      }
    }
  }
  for (const auto& block : cluster->blocks) {
    for (const auto& warp : block->warps) queue(*warp);
  }
  clusters_.push_back(std::move(cluster));
}

// Operations in flight are performed first, because they refer to the cluster.
void Machine::retire(std::size_t index) {
  retired_ = std::move(clusters_[index]);
  clusters_.erase(clusters_.begin() + static_cast<std::ptrdiff_t>(index));
  for (const auto& block : retired_->blocks) check_copies_complete(*block);
  for (const auto& block : retired_->blocks) async_.drain(*block);
  for (const auto& block : retired_->blocks) check_exit(*block);
  std::erase_if(channels_, [&](const Channel& channel) { return channel.cluster == retired_.get(); });
}

bool Machine::splits_lanes() {
  if (--branches_to_split_ != 0) return false;
  branches_to_split_ = 1 + random_.below(kBranchesBeforeSplit);
  return true;
}

Warp* Machine::pick_warp() {
  while (!runnable_.empty()) {
    const std::size_t index = random_.below(runnable_.size());
    Warp* warp = runnable_[index];
    if (warp->select()) return warp;
    warp->queued = false;
    runnable_[index] = runnable_.back();
    runnable_.pop_back();
  }
  return nullptr;
}

void Machine::loop() {
  const u64 blocks_of_cluster = u64{shape_.cluster[0]} * shape_.cluster[1] * shape_.cluster[2];
  const u64 resident =
      shape_.cooperative ? cluster_count_ : std::max<u64>(1, settings_.resident_blocks / blocks_of_cluster);
  while (true) {
    while (clusters_.size() < resident && next_cluster_ < cluster_count_) start_cluster();
    if (clusters_.empty()) return;
    if (async_.wants_step()) async_.step(false);
    if (stalled_ > kPollsBeforeSteps) async_.steps(kStepsWhilePolling);
    Warp* warp = pick_warp();
    if (warp == nullptr) {
      if (async_.step(true)) continue;
      report_no_progress(FaultKind::deadlock,
                         "nothing can run any more: every warp waits, and no asynchronous operation is left");
    }
    const bool whole = settings_.policy == Policy::eager || settings_.policy == Policy::lazy;
    run_warp(*warp, whole ? 8 * settings_.quantum : 1 + random_.below(settings_.quantum));
    if (stalled_ > settings_.polls_before_livelock) {
      report_no_progress(FaultKind::livelock,
                         fmt::format("{} instructions without any change that another warp could see",
                                     settings_.polls_before_livelock));
    }
    if (settings_.instruction_limit != 0 && counters_.instructions > settings_.instruction_limit) {
      report_no_progress(FaultKind::limit,
                         fmt::format("the launch has executed more than {} instructions of warps, which is "
                                     "its budget; instructions=N behind the device's name or in "
                                     "TMA_JIT_EMULATOR sets another, 0 none",
                                     settings_.instruction_limit));
    }
    if (!warp->exited()) continue;
    std::erase(runnable_, warp);
    for (std::size_t i = clusters_.size(); i-- > 0;) {
      if (clusters_[i]->exited()) retire(i);
    }
  }
}

void Machine::run_warp(Warp& warp, u32 quantum) {
  const FaultContext fault_context(*this, &warp, nullptr);
  const Op* const ops = program_.ops.data();
  u32 executed = 0;
  const bool other = warp.subwarps().size() > 1 && random_.below(kRunsBeforeOthers) == 0 && warp.select_other();
  while (executed < quantum) {
    if (warp.subwarps().size() > 1) {
      if (!other) warp.select();
      warp.merge();
      warp.subwarp().state = Subwarp::State::runnable;
    }
    const Op& op = ops[warp.subwarp().pc];
    current_op_ = &op;
    ++executed;
    if (op.ends_delays && warp.subwarps().size() > 1 && warp.end_delays()) continue;
    if (!warp.converged(op)) {
      warp.subwarp().state = Subwarp::State::converging;
      if (!warp.select()) break;
      continue;
    }
    const Step step = execute(warp, op);
    if (step == Step::next) {
      ++warp.subwarp().pc;
      continue;
    }
    apply_step(warp, step);
    if (step == Step::yield || warp.exited() || !warp.select()) break;
  }
  counters_.instructions += executed;
  stalled_ += executed;
}

Step Machine::execute(Warp& warp, const Op& op) {
  const Mask mask = warp.subwarp().mask;
  counters_.thread_instructions += static_cast<u64>(__builtin_popcount(mask));
  if (warp.has_unusable_registers()) check_registers(warp, op, mask);
  Mask active = mask;
  if (op.guard) {
    const Mask holds = warp.predicate(op.guard);
    active &= op.guard_negated ? ~holds : holds;
    if (active == 0) return Step::next;
    if (active != mask && op.convergence == Convergence::all) {
      throw_fault(FaultKind::divergence, "an .aligned instruction whose guard holds for lanes {:#010x} of {:#010x}",
                  active, mask);
    }
  }
  if (program_.uses_wgmma && !op.touches_in_flight) note_register_use(warp, op);
  if (observer_ == nullptr) return op.handler(warp, op, active);
  observer_->executes(warp, op, active);
  const Step step = op.handler(warp, op, active);
  observer_->executed(warp, op, step);
  return step;
}

// A launch that ends in a fault has a timeline up to the fault.
void Machine::finish_observer() {
  if (observer_ != nullptr && !observer_->finish()) warn("the trace cannot be written to " + settings_.trace.string());
}

void Machine::apply_step(Warp& warp, Step step) {
  if (step == Step::yield) ++warp.subwarp().pc;
  if (warp.exited()) {
    --warp.block().live_warps;
    if (observer_ != nullptr) observer_->exited(warp);
    progress();
    warp_exited(warp);
  }
}

}  // namespace tma_jit::emulator
