// The scheduler: which warp runs, for how long, and when asynchronous operations have their turn.
//
// A kernel's faults show only in some of the orders that hardware may choose, so the order is drawn at random, and from
// one seeded generator in one thread, so that a seed repeats a run. In each round the engine of asynchronous operations
// may make a step, as the policy says; then one of the warps that can run is picked, each as likely as the others, and
// executes up to a quantum of instructions. A warp's lanes are groups with a program counter each; the group that is
// behind runs first, so that groups join again, and now and then another one, since PTX promises progress to each. A
// warp that waits leaves the list of those that can run; a barrier, an mbarrier or an operation puts it back. When the
// list is empty, the engine is made to complete something, and when it has nothing either, that is a deadlock. Warps
// that poll can always run: instructions since the last change that another warp could see are counted, and beyond a
// limit the engine has its turn, beyond a larger one that is a livelock. A round costs O(1) beside the instructions.
#include <exception>

#include "emulator/fault.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/mbarrier_ops.h"
#include "emulator/machine/observer.h"

namespace tma_jit::emulator {
namespace {

// A warp whose fragments spin on each other must let the others run: PTX promises progress to every thread.
constexpr u32 kRunsBeforeOthers = 32;

// Branches that all lanes of a warp take, at most, before a warp's lanes part at one.
constexpr u32 kBranchesBeforeParting = 128;

// Warps that poll for what an operation will bring can always run: after so many instructions of no effect the engine
// has its turn, whatever the policy, for so many parts of operations.
constexpr u64 kPatience = 20'000;
constexpr int kPartsAfterPatience = 32;

}  // namespace

Counters Machine::run() {
  try {
    loop();
    flush_print();
    finish_observer();
  } catch (Fault& fault) {
    flush_print();
    complete_place(fault);
    finish_observer();
    fault.place += fmt::format("\n  again with --device emulator:{}:policy={},seed={},processors={}", device_.arch,
                               policy_name(settings_.policy), settings_.seed, device_.sm_count);
    if (settings_.instruction_limit != kEmulatorInstructions)
      fault.place += fmt::format(",instructions={}", settings_.instruction_limit);
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

// What its engines still do is done first: their operations point into the cluster.
void Machine::retire(std::size_t index) {
  retired_ = std::move(clusters_[index]);
  clusters_.erase(clusters_.begin() + static_cast<std::ptrdiff_t>(index));
  for (const auto& block : retired_->blocks) async::check_landed(*block);
  for (const auto& block : retired_->blocks) async_.drain(*block);
  for (const auto& block : retired_->blocks) check_exit(*block);
  std::erase_if(channels_, [&](const Channel& channel) { return channel.cluster == retired_.get(); });
}

bool Machine::parts_lanes() {
  if (--branches_to_parting_ != 0) return false;
  branches_to_parting_ = 1 + random_.below(kBranchesBeforeParting);
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
    if (stalled_ > kPatience) async_.steps(kPartsAfterPatience);
    Warp* warp = pick_warp();
    if (warp == nullptr) {
      if (async_.step(true)) continue;
      report_stuck(FaultKind::deadlock,
                   "nothing can run any more: every warp waits, and no asynchronous operation is left");
    }
    const bool whole = settings_.policy == Policy::eager || settings_.policy == Policy::lazy;
    run_warp(*warp, whole ? 8 * settings_.quantum : 1 + random_.below(settings_.quantum));
    if (stalled_ > settings_.polls_before_livelock) {
      report_stuck(FaultKind::livelock, fmt::format("{} instructions without any change that another warp could see",
                                                    settings_.polls_before_livelock));
    }
    if (settings_.instruction_limit != 0 && counters_.instructions > settings_.instruction_limit) {
      report_stuck(FaultKind::limit, fmt::format("the launch has executed more than {} instructions of warps, which is "
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
  const Acting acting(*this, &warp, nullptr);
  const Op* const ops = program_.ops.data();
  u32 executed = 0;
  const bool other = warp.fragments().size() > 1 && random_.below(kRunsBeforeOthers) == 0 && warp.select_other();
  while (executed < quantum) {
    if (warp.fragments().size() > 1) {
      if (!other) warp.select();
      warp.merge();
      warp.fragment().state = Fragment::State::runnable;
    }
    const Op& op = ops[warp.fragment().pc];
    acting_op_ = &op;
    ++executed;
    if (op.gathers && warp.fragments().size() > 1 && warp.catch_up()) continue;
    if (!warp.meets(op)) {
      warp.fragment().state = Fragment::State::meeting;
      if (!warp.select()) break;
      continue;
    }
    const Step step = execute(warp, op);
    if (step == Step::next) {
      ++warp.fragment().pc;
      continue;
    }
    settle(warp, step);
    if (step == Step::yield || warp.exited() || !warp.select()) break;
  }
  counters_.instructions += executed;
  stalled_ += executed;
}

Step Machine::execute(Warp& warp, const Op& op) {
  const Mask mask = warp.fragment().mask;
  counters_.thread_instructions += static_cast<u64>(__builtin_popcount(mask));
  if (warp.has_doubtful_registers()) check_registers(warp, op, mask);
  Mask active = mask;
  if (op.guard) {
    const Mask holds = warp.predicate(op.guard);
    active &= op.guard_negated ? ~holds : holds;
    if (active == 0) return Step::next;
    if (active != mask && op.meeting == Meeting::all) {
      stop(FaultKind::divergence, "an .aligned instruction whose guard holds for lanes {:#010x} of {:#010x}", active,
           mask);
    }
  }
  if (program_.uses_wgmma && !op.touches_in_flight) note_register_use(warp, op);
  if (observer_ == nullptr) return op.handler(warp, op, active);
  observer_->executes(warp, op, active);
  const Step step = op.handler(warp, op, active);
  observer_->executed(warp, op, step);
  return step;
}

// A launch that ends in a fault has a timeline up to there.
void Machine::finish_observer() {
  if (observer_ != nullptr && !observer_->finish()) warn("the trace cannot be written to " + settings_.trace.string());
}

void Machine::settle(Warp& warp, Step step) {
  if (step == Step::yield) ++warp.fragment().pc;
  if (warp.exited()) {
    --warp.block().live_warps;
    if (observer_ != nullptr) observer_->exited(warp);
    progress();
    warp_exited(warp);
  }
}

}  // namespace tma_jit::emulator
