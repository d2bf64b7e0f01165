#include "emulator/mutation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include <fmt/format.h>

#include "emulator/isa/mbarrier/handlers_mbarrier.h"
#include "emulator/isa/memory/handlers_memory.h"
#include "emulator/machine/control.h"
#include "emulator/machine/warp.h"

namespace tma_jit::testing {
namespace {

using emulator::Mask;
using emulator::Op;
using emulator::Program;
using emulator::RegisterRef;
using emulator::Step;
using emulator::Warp;
using emulator::isa::Ordering;

std::string_view opcode_of(const Op& op) {
  return op.source != nullptr ? op.source->opcode : std::string_view();
}

bool says(const Op& op, std::string_view word) {
  return op.source != nullptr && std::ranges::find(op.source->modifiers, word) != op.source->modifiers.end();
}

struct Adjusted : emulator::FormData {
  Op original;
  RegisterRef read, scratch;
  std::int64_t delta = 0;
};

Step do_adjusted(Warp& warp, const Op& op, Mask active) {
  const auto& adjusted = static_cast<const Adjusted&>(*op.data);
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    warp.set_lane(adjusted.scratch, lane, warp.lane(adjusted.read, lane) + static_cast<std::uint64_t>(adjusted.delta));
  }
  return adjusted.original.handler(warp, adjusted.original, active);
}

struct Counted : emulator::FormData {
  Op original;
  mutable std::uint64_t times = 0;
};

Step do_counted(Warp& warp, const Op& op, Mask active) {
  const auto& counted = static_cast<const Counted&>(*op.data);
  ++counted.times;
  return counted.original.handler(warp, counted.original, active);
}

Step do_succeed(Warp& warp, const Op& op, Mask active) {
  warp.set_predicate(op.d, active, emulator::kAllLanes);
  return Step::next;
}

// Instructions whose only effect is synchronisation.
bool removable(std::string_view opcode) {
  static constexpr std::array kStarts = {"mbarrier.init",
                                         "mbarrier.inval",
                                         "mbarrier.arrive",
                                         "mbarrier.expect_tx",
                                         "mbarrier.complete_tx",
                                         "fence.",
                                         "membar.",
                                         "bar.sync",
                                         "bar.arrive",
                                         "bar.warp.sync",
                                         "barrier.",
                                         "wgmma.fence",
                                         "wgmma.commit",
                                         "wgmma.wait",
                                         "tcgen05.fence",
                                         "tcgen05.commit",
                                         "tcgen05.wait",
                                         "cp.async.commit_group",
                                         "cp.async.wait",
                                         "cp.async.mbarrier",
                                         "cp.async.bulk.commit",
                                         "cp.async.bulk.wait"};
  return std::ranges::any_of(kStarts, [&](const char* start) { return opcode.starts_with(start); });
}

bool is_wait(std::string_view opcode) {
  return opcode.starts_with("mbarrier.try_wait") || opcode.starts_with("mbarrier.test_wait");
}

bool is_memory(std::string_view opcode) {
  return opcode.starts_with("ld.") || opcode.starts_with("st.") || opcode.starts_with("atom.") ||
         opcode.starts_with("red.");
}

bool can_relax(const Op& op) {
  const std::string_view opcode = opcode_of(op);
  if (opcode.starts_with("mbarrier.arrive")) return !says(op, "relaxed");
  if (is_wait(opcode)) return !says(op, "relaxed");
  if (opcode.starts_with("barrier.cluster.arrive")) return op.kind == 0;
  if (!is_memory(opcode) || opcode.find(".async") != std::string_view::npos) return false;
  const auto ordering = static_cast<Ordering>(op.kind);
  return ordering == Ordering::acquire || ordering == Ordering::release || ordering == Ordering::acquire_release;
}

// The operand that holds a count, and the unit by which to change it.
struct Count {
  RegisterRef Op::*operand = nullptr;
  std::int64_t unit = 1;
};
Count count_of(const Op& op) {
  const std::string_view opcode = opcode_of(op);
  if (opcode.starts_with("mbarrier.init")) return {&Op::b, 1};
  if (opcode.starts_with("mbarrier.") && says(op, "expect_tx")) return {&Op::c, 16};
  if (opcode.starts_with("mbarrier.arrive") && op.b) return {&Op::b, 1};
  if ((opcode.starts_with("bar.sync") || opcode.starts_with("bar.arrive") || opcode.starts_with("barrier.sync") ||
       opcode.starts_with("barrier.cta.")) &&
      op.b)
    return {&Op::b, 32};
  return {};
}

// Waits for one group fewer. Waiting for one more is correct but slower.
bool waits_for_groups(std::string_view opcode) {
  return opcode.starts_with("wgmma.wait_group") || opcode.starts_with("cp.async.wait_group") ||
         opcode.starts_with("cp.async.bulk.wait_group");
}

void adjust(Program& program, Op& op, const Count& count, std::int64_t sign) {
  auto adjusted = std::make_shared<Adjusted>();
  adjusted->original = op;
  adjusted->read = op.*count.operand;
  adjusted->delta = sign * count.unit;
  constexpr std::uint32_t kAlignment = 64, kRegister = 256;
  program.register_bytes = (program.register_bytes + kAlignment - 1) / kAlignment * kAlignment;
  adjusted->scratch = {program.register_bytes, RegisterRef::registers, adjusted->read.width, false};
  program.register_bytes += kRegister;
  adjusted->original.*count.operand = adjusted->scratch;
  op.handler = do_adjusted;
  op.data = std::move(adjusted);
}

void relax(Op& op) {
  const std::string_view opcode = opcode_of(op);
  if (opcode.starts_with("mbarrier.")) {
    auto form =
        std::make_shared<emulator::isa::MbarrierForm>(static_cast<const emulator::isa::MbarrierForm&>(*op.data));
    form->relaxed = true;
    op.data = std::move(form);
  } else if (opcode.starts_with("barrier.cluster")) {
    op.kind = 1;
  } else {
    op.kind = static_cast<emulator::u16>(Ordering::relaxed);
  }
}

void remove(Op& op) {
  Op nothing;
  nothing.handler = emulator::do_nop;
  nothing.source = op.source;
  op = nothing;
}

}  // namespace

std::vector<Mutation> mutations_of(const Program& program) {
  std::vector<Mutation> list;
  for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const std::string_view opcode = opcode_of(op);
    if (removable(opcode)) list.push_back({i, Change::remove});
    if (is_wait(opcode)) list.push_back({i, Change::succeed});
    if (can_relax(op)) list.push_back({i, Change::relax});
    if (count_of(op).operand != nullptr) {
      list.push_back({i, Change::one_more});
      list.push_back({i, Change::one_less});
    }
    if (waits_for_groups(opcode)) list.push_back({i, Change::one_more});
  }
  return list;
}

Program mutated(const Program& program, const Mutation& mutation) {
  Program copy = program;
  Op& op = copy.ops[mutation.op];
  switch (mutation.change) {
    case Change::remove: remove(op); break;
    case Change::succeed: op.handler = do_succeed; break;
    case Change::relax: relax(op); break;
    case Change::one_more:
      if (waits_for_groups(opcode_of(op)))
        ++op.immediate;
      else
        adjust(copy, op, count_of(op), 1);
      break;
    case Change::one_less: adjust(copy, op, count_of(op), -1); break;
  }
  return copy;
}

std::string_view name_of(Change change) {
  static constexpr std::array<std::string_view, 5> kNames = {"remove", "always succeed", "relax", "one more",
                                                             "one less"};
  return kNames[static_cast<std::size_t>(change)];
}

std::string describe(const Program& program, const Mutation& mutation) {
  const Op& op = program.ops[mutation.op];
  return fmt::format("{} {} (PTX line {}, {})", name_of(mutation.change), opcode_of(op),
                     op.source != nullptr ? op.source->line : 0,
                     op.source != nullptr ? program.module->location_of(*op.source) : "");
}

std::string family_of(const Program& program, const Mutation& mutation) {
  const Op& op = program.ops[mutation.op];
  std::string name;
  if (op.source == nullptr) return name;
  for (const std::string_view word : op.source->modifiers) {
    if (word.find("::") != std::string_view::npos && !word.starts_with("before") && !word.starts_with("after") &&
        !word.starts_with("wait"))
      break;
    static constexpr std::array kLast = {"sync", "aligned", "b64", "release", "acquire", "relaxed", "parity", "shared"};
    if (!name.empty() && std::ranges::find(kLast, word) != kLast.end() && name != "bar" && name != "bar.warp") break;
    name += (name.empty() ? "" : ".") + std::string(word);
  }
  return name;
}

Coverage::Coverage(const Program& program, const std::vector<Mutation>& mutations) : program_(program) {
  for (const Mutation& mutation : mutations) {
    Op& op = program_.ops[mutation.op];
    if (op.handler == do_counted) continue;
    auto counted = std::make_shared<Counted>();
    counted->original = op;
    op.handler = do_counted;
    op.data = std::move(counted);
  }
}

bool Coverage::executed(std::uint32_t op) const {
  const Op& counted = program_.ops[op];
  return counted.handler == do_counted && static_cast<const Counted&>(*counted.data).times > 0;
}

}  // namespace tma_jit::testing
