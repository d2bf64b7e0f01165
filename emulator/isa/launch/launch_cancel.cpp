#include "emulator/isa/launch/launch_cancel.h"

#include <bit>
#include <cstring>

#include "emulator/fault.h"
#include "emulator/machine/address.h"
#include "emulator/machine/async_engine.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/mbarrier_ops.h"

namespace tma_jit::emulator::isa {
namespace {

constexpr u32 kTaken = 0x54414b45;  // the last word of a successful response; the format is not documented
constexpr u32 kResponseBytes = 16;

class LaunchCancel : public AsyncOperation {
 public:
  struct Target {
    Block* block;
    u32 response, barrier;  // offsets
  };
  std::vector<Target> targets;

  bool perform(Machine& machine) override {
    u32 response[4] = {};
    if (const std::optional<Dim3> first = machine.cancel_next_cluster()) {
      std::memcpy(response, first->data(), sizeof *first);
      response[3] = kTaken;
    }
    for (const Target& target : targets) {
      const MbarrierRef at = mbarrier_in(machine, *target.block, target.barrier);
      check_initialised(machine, at, clocks, true);
      const SharedSpan span = machine.shared_at(*target.block, target.response, kResponseBytes);
      machine.check_mbarrier_store(span, kResponseBytes);
      machine.record_shared(span, kResponseBytes,
                            {true, next_event(machine, at, op), &clocks, "clusterlaunchcontrol.try_cancel"});
      std::memcpy(span.bytes, response, sizeof response);
      complete_tx(machine, at, kResponseBytes, clocks);
    }
    return true;
  }
};

void issue(Warp& warp, const Op& op, int lane) {
  Machine& machine = warp.machine();
  const auto response = static_cast<u32>(warp.address(op, op.a, lane));
  const auto barrier = static_cast<u32>(warp.lane(op.b, lane) + op.immediate);
  if (response % kResponseBytes != 0) throw_fault(FaultKind::alignment, "a response of 16 bytes at {:#x}", response);
  const SharedSpan to = machine.shared(warp.block(), response, kResponseBytes);
  const SharedSpan counted = machine.shared(warp.block(), barrier, 8);
  if (to.block != &warp.block() || counted.block != &warp.block()) {
    throw_fault(FaultKind::cluster, "the response in {} and its mbarrier in {}; both lie in {}, which asks",
                to.block->name(), counted.block->name(), warp.block().name());
  }
  auto cancel = std::make_shared<LaunchCancel>();
  cancel->warp = &warp;
  cancel->block = &warp.block();
  cancel->op = &op;
  cancel->clocks = warp.clock.clocks;
  for (const auto& block : warp.block().cluster().blocks) {
    if (op.kind == 1 || block.get() == &warp.block())
      cancel->targets.push_back({block.get(), to.offset, counted.offset});
  }
  machine.async().submit(std::move(cancel));
}

}  // namespace

Step do_try_cancel(Warp& warp, const Op& op, Mask active) {
  for (Mask rest = active; rest != 0; rest &= rest - 1) issue(warp, op, std::countr_zero(rest));
  warp.clock.tick();
  return Step::next;
}

Step do_query_cancel(Warp& warp, const Op& op, Mask active) {
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    u32 response[4];
    std::memcpy(response, warp.values<u8>(op.a) + std::size_t{kResponseBytes} * static_cast<u32>(i), sizeof response);
    const bool taken = response[3] == kTaken;
    if (op.kind == 0) {
      warp.set_lane(op.d, i, taken ? 1 : 0);
      continue;
    }
    if (!taken) {
      throw Fault{FaultKind::cluster,
                  "the first block of a cluster is asked of a response that took none over",
                  "ask clusterlaunchcontrol.query_cancel.is_canceled first",
                  {}};
    }
    if (op.kind <= 3) {
      warp.set_lane(op.d, i, response[op.kind - 1]);
      continue;
    }
    for (std::size_t k = 0; k < op.list.size(); ++k) warp.set_lane(op.list[k], i, k < 3 ? response[k] : 0);
  }
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
