// Instructions that exchange values between the lanes of a warp. PTX ISA 9.0, "shfl.sync", "vote.sync", "match.sync",
// "redux.sync", "elect.sync", "activemask". Each orders the participating lanes, so that the warp's clock ticks.
#include <algorithm>
#include <bit>

#include "emulator/fault.h"
#include "emulator/isa/warp/handlers_warp.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator::isa {
namespace {

// Groups the active lanes by member mask: lanes with equal masks participate together.
template <class F> void for_each_group(const Warp& warp, const Op& op, Mask active, F f) {
  for (Mask rest = active; rest != 0;) {
    const int first = std::countr_zero(rest);
    const auto members = static_cast<Mask>(warp.lane(op.members, first));
    Mask group = 0;
    for_each(rest, [&](int i) {
      if (static_cast<Mask>(warp.lane(op.members, i)) == members) group |= Mask{1} << i;
    });
    if ((members & group) != group) {
      throw_fault(FaultKind::divergence, "lane {} executes {} with member mask {:#010x}, which does not name it",
                  std::countr_zero(group & ~members), op.source->modifiers[0], members);
    }
    f(group);
    rest &= ~group;
  }
}

// The lane that lane i reads, and whether it is in i's segment.
struct Partner {
  int lane;
  bool inside;
};
Partner partner_of(Shuffle kind, int i, int b, u32 c) {
  const int segment = static_cast<int>(c >> 8 & 31U), clamp = static_cast<int>(c & 31U);
  const int last = (i & segment) | (clamp & ~segment);
  const int first = i & segment;
  switch (kind) {
    case Shuffle::up: return {i - b, i - b >= last};
    case Shuffle::down: return {i + b, i + b <= last};
    case Shuffle::butterfly: return {i ^ b, (i ^ b) <= last};
    case Shuffle::index: return {first | (b & ~segment), (first | (b & ~segment)) <= last};
  }
  return {i, false};
}

}  // namespace

Step do_shuffle(Warp& warp, const Op& op, Mask active) {
  u32 source[kLanes];
  std::copy_n(warp.values<u32>(op.a), kLanes, source);
  const auto kind = static_cast<Shuffle>(op.kind);
  for_each_group(warp, op, active, [&](Mask group) {
    for_each(group, [&](int i) {
      Partner partner =
          partner_of(kind, i, static_cast<int>(warp.lane(op.b, i) & 31U), static_cast<u32>(warp.lane(op.c, i)));
      if (!partner.inside) partner.lane = i;
      if ((group >> partner.lane & 1U) == 0) {
        throw_fault(FaultKind::divergence, "lane {} reads lane {}, which does not take part in the shuffle", i,
                    partner.lane);
      }
      warp.set_lane(op.d, i, source[partner.lane]);
      if (op.second) warp.set_predicate(op.second, Mask{1} << i, partner.inside ? kAllLanes : 0);
    });
  });
  warp.clock.tick();
  return Step::next;
}

Step do_vote(Warp& warp, const Op& op, Mask active) {
  const Mask given = warp.predicate(op.a);
  for_each_group(warp, op, active, [&](Mask group) {
    const Mask holds = given & group;
    switch (static_cast<Vote>(op.kind)) {
      case Vote::all: return warp.set_predicate(op.d, group, holds == group ? kAllLanes : 0);
      case Vote::any: return warp.set_predicate(op.d, group, holds != 0 ? kAllLanes : 0);
      case Vote::uniform: return warp.set_predicate(op.d, group, holds == group || holds == 0 ? kAllLanes : 0);
      case Vote::ballot: return for_each(group, [&](int i) { warp.set_lane(op.d, i, holds); });
    }
  });
  warp.clock.tick();
  return Step::next;
}

// kind 0: the lanes with the same value; kind 1: the lanes of the group if all values are equal, and a predicate.
Step do_match(Warp& warp, const Op& op, Mask active) {
  for_each_group(warp, op, active, [&](Mask group) {
    Mask result[kLanes] = {};
    for_each(group, [&](int i) {
      for_each(group, [&](int k) {
        if (warp.lane(op.a, i) == warp.lane(op.a, k)) result[i] |= Mask{1} << k;
      });
    });
    for_each(group, [&](int i) {
      const bool all = result[i] == group;
      warp.set_lane(op.d, i, op.kind == 0 || all ? result[i] : 0);
      if (op.second) warp.set_predicate(op.second, Mask{1} << i, all ? kAllLanes : 0);
    });
  });
  warp.clock.tick();
  return Step::next;
}

namespace {

u32 reduced(const Op& op, u32 a, u32 b) {
  const bool is_signed = op.type == ptx::Type::s32;
  switch (static_cast<Atomic>(op.kind)) {
    case Atomic::add: return a + b;
    case Atomic::min:
      return is_signed ? static_cast<u32>(std::min(static_cast<s32>(a), static_cast<s32>(b))) : std::min(a, b);
    case Atomic::max:
      return is_signed ? static_cast<u32>(std::max(static_cast<s32>(a), static_cast<s32>(b))) : std::max(a, b);
    case Atomic::conjunction: return a & b;
    case Atomic::disjunction: return a | b;
    default: return a ^ b;
  }
}

}  // namespace

Step do_redux(Warp& warp, const Op& op, Mask active) {
  for_each_group(warp, op, active, [&](Mask group) {
    const int first = std::countr_zero(group);
    u32 value = static_cast<u32>(warp.lane(op.a, first));
    for_each(group & (group - 1), [&](int i) { value = reduced(op, value, static_cast<u32>(warp.lane(op.a, i))); });
    for_each(group, [&](int i) { warp.set_lane(op.d, i, value); });
  });
  warp.clock.tick();
  return Step::next;
}

// PTX leaves the elected lane unspecified; the hardware elects the lowest.
Step do_elect(Warp& warp, const Op& op, Mask active) {
  for_each_group(warp, op, active, [&](Mask group) {
    const int leader = std::countr_zero(group);
    for_each(group, [&](int i) { warp.set_lane(op.d, i, static_cast<u64>(leader)); });
    warp.set_predicate(op.second, group, Mask{1} << leader);
  });
  warp.clock.tick();
  return Step::next;
}

Step do_active_mask(Warp& warp, const Op& op, Mask active) {
  for_each(active, [&](int i) { warp.set_lane(op.d, i, active); });
  return Step::next;
}

Step do_warp_barrier(Warp& warp, const Op& op, Mask active) {
  for_each_group(warp, op, active, [](Mask) {});
  warp.clock.tick();
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
