// Operations that one thread issues to the tensor core and that the core performs in issue order: multiplications,
// copies from shared memory, shifts, and commits that arrive on mbarriers.
#include <bit>
#include <optional>

#include "emulator/fault.h"
#include "emulator/isa/tcgen05/handlers_tcgen05.h"
#include "emulator/machine/address.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/mbarrier_ops.h"
#include "emulator/machine/tensor_memory.h"

namespace tma_jit::emulator::isa {
namespace {

u32 address_at(const Warp& warp, const AddressOperand& operand, int lane) {
  return static_cast<u32>(warp.lane(operand.base, lane)) + static_cast<u32>(operand.offset);
}

// Returns the issuer's block, or its pair of blocks, the even rank first.
std::vector<Block*> group_of(Block& block, u32 group) {
  if (group == 1) return {&block};
  auto& blocks = block.cluster().blocks;
  const u32 even = block.rank() & ~1U;
  if (even + 1 >= blocks.size()) {
    throw_fault(FaultKind::cluster, "{} has no peer for .cta_group::2: the cluster has {} blocks", block.name(),
                blocks.size());
  }
  for (const u32 rank : {even, even + 1}) {
    if (blocks[rank]->live_warps == 0) {
      throw_fault(FaultKind::cluster, "a tcgen05 operation of two blocks, of which {} has exited",
                  blocks[rank]->name());
    }
  }
  return {blocks[even].get(), blocks[even + 1].get()};
}

// An operation of the tensor core's queue.
class CoreOperation : public AsyncOperation {
 protected:
  // Sets the issuer and the clocks.
  void issue(Warp& issuer, const Op& instruction, TensorMemory& memory) {
    warp = &issuer;
    block = &issuer.block();
    op = &instruction;
    clocks = issuer.clock.clocks;
    const TensorMemoryState& state = memory.state_of(issuer);
    order_ = state.order;
    order_.raise(state.loads, state.waited_loads);
    order_.raise(state.stores, state.waited_stores);
    stamp = {memory.channel(), check::kManyLanes, check::Access::kAsync, ++memory.issued, &instruction};
    issuer.clock.tick();
  }

  void record_shared(Machine& machine, Block& owner, const std::vector<ByteRange>& spans, const char* what) const {
    if (machine.settings().checks) machine.record_shared(owner, spans, {false, stamp, &clocks, what});
  }

  void record_tensor(TensorMemory& memory, const std::vector<matrix::Region>& regions, bool write,
                     const char* what) const {
    for (const matrix::Region& region : regions) memory.record(region, {write, stamp, &order_, &clocks.seen, what});
  }

 private:
  check::Clock order_;
};

class Multiplication : public CoreOperation {
 public:
  Multiplication(Warp& issuer, const Op& instruction, TensorMemory& memory, matrix::TensorMma mma)
      : mma_(mma), blocks_(group_of(issuer.block(), mma_.form.cta_group)) {
    plan_ = matrix::plan(mma_, static_cast<u32>(issuer.block().shared.size()));
    issue(issuer, instruction, memory);
  }

  bool perform(Machine& machine) override {
    std::vector<matrix::CtaMemory> memories;
    for (Block* owner : blocks_) {
      TensorMemory& memory = tensor_memory_of(machine, *owner);
      record_shared(machine, *owner, plan_.reads, "tcgen05.mma");
      record_tensor(memory, plan_.tensor_reads, false, "tcgen05.mma");
      record_tensor(memory, plan_.tensor_writes, true, "tcgen05.mma");
      memories.push_back({owner->shared.data(), memory.words()});
    }
    matrix::execute(mma_, plan_.instruction, memories);
    return true;
  }

 private:
  matrix::TensorMma mma_;
  matrix::TensorMmaPlan plan_;
  std::vector<Block*> blocks_;
};

class Copy : public CoreOperation {
 public:
  Copy(Warp& issuer, const Op& instruction, TensorMemory& memory, const matrix::TensorCopy& copy, u32 group)
      : copy_(copy), blocks_(group_of(issuer.block(), group)) {
    plan_ = matrix::plan(copy_, static_cast<u32>(issuer.block().shared.size()));
    issue(issuer, instruction, memory);
  }

  // Each block of a pair copies from its own shared memory.
  bool perform(Machine& machine) override {
    for (Block* owner : blocks_) {
      TensorMemory& memory = tensor_memory_of(machine, *owner);
      record_shared(machine, *owner, plan_.reads, "tcgen05.cp");
      record_tensor(memory, plan_.writes, true, "tcgen05.cp");
      matrix::execute(copy_, owner->shared.data(), memory.words());
    }
    return true;
  }

 private:
  const matrix::TensorCopy copy_;
  matrix::TensorCopyPlan plan_;
  std::vector<Block*> blocks_;
};

class Shift : public CoreOperation {
 public:
  Shift(Warp& issuer, const Op& instruction, TensorMemory& memory, u32 address)
      : address_(address), blocks_(group_of(issuer.block(), static_cast<u32>(instruction.immediate))) {
    regions_ = matrix::shift_footprint(address_);
    issue(issuer, instruction, memory);
  }

  bool perform(Machine& machine) override {
    for (Block* owner : blocks_) {
      TensorMemory& memory = tensor_memory_of(machine, *owner);
      record_tensor(memory, regions_, false, "tcgen05.shift");
      record_tensor(memory, regions_, true, "tcgen05.shift");
      matrix::shift_down(address_, memory.words());
    }
    return true;
  }

 private:
  const u32 address_;
  std::vector<Block*> blocks_;
  std::vector<matrix::Region> regions_;
};

// Arrives after everything issued earlier, which the queue has performed by then.
class Commit : public CoreOperation {
 public:
  Commit(Warp& issuer, const Op& instruction, TensorMemory& memory, u32 address, std::optional<u32> blocks)
      : address_(address), mask_(blocks) {
    issue(issuer, instruction, memory);
    const TensorMemoryState& state = memory.state_of(issuer);  // a commit implies fence::before_thread_sync
    clocks.complete(state.loads, state.waited_loads);
    clocks.complete(state.stores, state.waited_stores);
    clocks.complete(stamp.actor, stamp.time);
  }

  bool perform(Machine& machine) override {
    if (!mask_) {
      arrive(machine, mbarrier_at(machine, *block, address_));
      return true;
    }
    auto& blocks = block->cluster().blocks;
    for (u32 rank = 0; rank < 16; ++rank) {
      if ((*mask_ >> rank & 1) == 0) continue;
      if (rank >= blocks.size())
        throw_fault(FaultKind::cluster, "tcgen05.commit arrives in block {} of a cluster of {}", rank, blocks.size());
      if (blocks[rank].get() != block) Machine::require_resident(*blocks[rank], "an arrival of tcgen05.commit");
      arrive(machine, mbarrier_in(machine, *blocks[rank], address_ & kOffsetMask));
    }
    return true;
  }

 private:
  void arrive(Machine& machine, const MbarrierRef& at) {
    check_initialised(machine, at, clocks, true);
    emulator::arrive(machine, at, 1, clocks);
  }

  const u32 address_;
  const std::optional<u32> mask_;
};

// Calls issue(lane) for each lane that issues, because the instructions have single-thread semantics.
template <class F> Step for_each_thread(Warp& warp, Mask active, F issue) {
  for (Mask rest = active; rest != 0; rest &= rest - 1) issue(std::countr_zero(rest));
  warp.machine().progress();
  return Step::next;
}

matrix::TensorMma operands_of(const Warp& warp, const Tcgen05MmaForm& form, Mask accumulates, int lane) {
  matrix::TensorMma mma;
  mma.form = form.form;
  mma.d = address_at(warp, form.d, lane);
  mma.a_in_tensor = form.a_in_tensor;
  mma.a = form.a_in_tensor ? address_at(warp, form.tensor_a, lane) : warp.lane(form.a, lane);
  mma.b = warp.lane(form.b, lane);
  mma.instruction = static_cast<u32>(warp.lane(form.descriptor, lane));
  mma.accumulate = (accumulates >> lane & 1) != 0;
  mma.scale_input = form.scale_input;
  for (std::size_t i = 0; i < form.disabled_lanes.size(); ++i)
    mma.disabled_lanes[i] = static_cast<u32>(warp.lane(form.disabled_lanes[i], lane));
  if (form.zero_columns) mma.zero_columns = warp.lane(form.zero_columns, lane);
  if (form.form.scale_vector != 0) {
    mma.a_scales = address_at(warp, form.a_scales, lane);
    mma.b_scales = address_at(warp, form.b_scales, lane);
  }
  return mma;
}

}  // namespace

std::vector<RegisterRef> Tcgen05MmaForm::reads() const {
  std::vector<RegisterRef> refs = {d.base, tensor_a.base, a_scales.base, b_scales.base, a,
                                   b,      descriptor,    accumulate,    zero_columns};
  refs.insert(refs.end(), disabled_lanes.begin(), disabled_lanes.end());
  return refs;
}

Step do_tcgen05_mma(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const Tcgen05MmaForm&>(*op.data);
  TensorMemory& memory = tensor_memory_of(warp.machine(), warp.block());
  memory.use_group(form.form.cta_group);
  const Mask accumulates = warp.predicate(form.accumulate);
  return for_each_thread(warp, active, [&](int lane) {
    auto operation = std::make_shared<Multiplication>(warp, op, memory, operands_of(warp, form, accumulates, lane));
    warp.machine().async().submit(std::move(operation), memory.queue);
  });
}

Step do_tcgen05_cp(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const Tcgen05CopyForm&>(*op.data);
  TensorMemory& memory = tensor_memory_of(warp.machine(), warp.block());
  memory.use_group(form.group);
  return for_each_thread(warp, active, [&](int lane) {
    const matrix::TensorCopy copy = {form.shape, form.decompression, warp.lane(form.descriptor, lane),
                                     address_at(warp, form.address, lane)};
    warp.machine().async().submit(std::make_shared<Copy>(warp, op, memory, copy, form.group), memory.queue);
  });
}

Step do_tcgen05_shift(Warp& warp, const Op& op, Mask active) {
  TensorMemory& memory = tensor_memory_of(warp.machine(), warp.block());
  memory.use_group(static_cast<u32>(op.immediate));
  return for_each_thread(warp, active, [&](int lane) {
    const auto address = static_cast<u32>(warp.address(op, op.a, lane));
    warp.machine().async().submit(std::make_shared<Shift>(warp, op, memory, address), memory.queue);
  });
}

Step do_tcgen05_commit(Warp& warp, const Op& op, Mask active) {
  TensorMemory& memory = tensor_memory_of(warp.machine(), warp.block());
  memory.use_group(static_cast<u32>(op.immediate));
  return for_each_thread(warp, active, [&](int lane) {
    const auto address = static_cast<u32>(warp.address(op, op.a, lane));
    std::optional<u32> blocks;
    if (op.b) blocks = static_cast<u32>(warp.lane(op.b, lane)) & 0xffff;
    warp.machine().async().submit(std::make_shared<Commit>(warp, op, memory, address, blocks), memory.queue);
  });
}

}  // namespace tma_jit::emulator::isa
