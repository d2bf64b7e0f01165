#include "emulator/machine/taint.h"

#include <algorithm>

#include "emulator/fault.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/tensor_memory.h"

namespace tma_jit::emulator {
Taint Taints::of(const RegisterRef& reg) const {
  if (reg.bank != RegisterRef::registers) return {};
  const auto found = by_register_.find(reg.number());
  return found != by_register_.end() ? found->second : Taint{};
}

void Taints::put(const RegisterRef& reg, Mask written, const Taint& taint) {
  if (reg.bank != RegisterRef::registers) return;
  const auto found = by_register_.find(reg.number());
  const Mask kept = found != by_register_.end() ? found->second.lanes & ~written : 0;
  if ((kept | taint.lanes) == 0) {
    if (found != by_register_.end()) by_register_.erase(found);
    return;
  }
  Taint& now = by_register_[reg.number()];
  if (taint.lanes != 0) now = taint;
  now.lanes = kept | taint.lanes;
}

void Taints::forget_loads() {
  std::erase_if(by_register_, [](const auto& entry) { return entry.second.load != nullptr; });
}

namespace {

bool owned(const Warp& warp, const RegisterRef& reg) {
  return reg.bank == RegisterRef::registers && reg.number() < warp.in_flight.size() &&
         warp.in_flight[reg.number()] != 0;
}

// Returns the tcgen05.ld that will write the register; null if there is none.
const Op* load_of(const Warp& warp, const RegisterRef& reg) {
  const auto& memory = warp.block().tensor_memory;
  return memory == nullptr || !owned(warp, reg) ? nullptr : memory->load_of(warp, reg.number());
}

// Returns the operation that owns a register; null if it is unknown.
const Op* owner_of(const Warp& warp, const RegisterRef& reg) {
  const auto owns = [&](const RegisterRef& other) {
    return other.bank == RegisterRef::registers && other.number() == reg.number();
  };
  for (const auto& operation : warp.wgmma.pending) {
    const WgmmaForm& form = *operation->form;
    if (std::ranges::any_of(form.d, owns) || std::ranges::any_of(form.a, owns)) return operation->op;
  }
  return load_of(warp, reg);
}

[[noreturn]] void report_owned(const Machine& machine, const Op* owner, const char* what) {
  throw Fault{FaultKind::in_flight, what, "wait for the operation first: wgmma.wait_group, or tcgen05.wait::ld",
              owner == nullptr ? "" : "  owned by the operation at " + machine.location_of(*owner)};
}

void refuse(const Machine& machine, const Taint& taint) {
  if (taint.lanes == 0) return;
  if (taint.unwritten != nullptr) throw Fault(*taint.unwritten);
  report_owned(machine, taint.load,
               "an instruction acts on a value that was computed from a register that an asynchronous operation still "
               "owns");
}

void refuse_owned(const Warp& warp, const Machine& machine, const RegisterRef& reg) {
  if (owned(warp, reg)) {
    report_owned(machine, owner_of(warp, reg),
                 "an instruction uses a register that an asynchronous operation still owns");
  }
}

template <class F> void for_each_source(const Op& op, const F& f) {
  for (const RegisterRef& reg : {op.a, op.b, op.c, op.e}) f(reg);
  for (const RegisterRef& reg : op.coordinates) f(reg);
  if (!op.writes_list) std::ranges::for_each(op.list, f);
  if (op.data != nullptr) std::ranges::for_each(op.data->reads(), f);
}

template <class F> void for_each_result(const Op& op, const F& f) {
  f(op.d);
  f(op.second);
  if (op.writes_list) std::ranges::for_each(op.list, f);
  if (op.data != nullptr) std::ranges::for_each(op.data->writes(), f);
}

// Returns the taint that a source propagates. Throws for registers in use by wgmma.
Taint taint_of(const Warp& warp, const Machine& machine, const RegisterRef& reg) {
  const Op* const load = load_of(warp, reg);
  if (load != nullptr) return {kAllLanes, load, nullptr};
  refuse_owned(warp, machine, reg);
  return warp.taints.of(reg);
}

Taint joined(const Taint& a, const Taint& b, Mask lanes) {
  Taint both = a.lanes != 0 ? a : b;
  both.lanes = lanes;
  return both;
}

// The lanes in which neither side alone determines the result of a logical operation.
Mask undecided(const Taint& a, Mask a_decides, const Taint& b, Mask b_decides) {
  return (a.lanes | b.lanes) & ~(a_decides & ~a.lanes) & ~(b_decides & ~b.lanes);
}

Taint of_logic(const Warp& warp, const Op& op, const Taint& a, const Taint& b) {
  const bool conjunction = op.flow == Flow::conjunction;
  const Mask first = warp.predicate(op.a), second = warp.predicate(op.b);
  return joined(a, b, undecided(a, conjunction ? ~first : first, b, conjunction ? ~second : second));
}

Taint of_compare(const Warp& warp, const Op& op, const Taint& compared, const Taint& with) {
  const Mask other = warp.predicate(op.c);
  return joined(compared, with, undecided(compared, 0, with, op.flow == Flow::compares_and ? ~other : other));
}

Taint of_select(const Warp& warp, const Op& op, const Taint& a, const Taint& b, const Taint& c) {
  const Mask first = warp.predicate(op.c);
  const Mask chosen = (a.lanes & first) | (b.lanes & ~first);
  return c.lanes != 0 ? joined(c, a, chosen | c.lanes) : joined((a.lanes & first) != 0 ? a : b, {}, chosen);
}

Taint of_result(const Warp& warp, const Machine& machine, const Op& op) {
  const auto of = [&](const RegisterRef& reg) { return reg ? taint_of(warp, machine, reg) : Taint{}; };
  if (op.flow == Flow::selects) return of_select(warp, op, of(op.a), of(op.b), of(op.c));
  if (op.flow == Flow::conjunction || op.flow == Flow::disjunction) return of_logic(warp, op, of(op.a), of(op.b));
  if (op.flow == Flow::compares_and || op.flow == Flow::compares_or) {
    const Taint a = of(op.a), b = of(op.b);
    return of_compare(warp, op, joined(a, b, a.lanes | b.lanes), of(op.c));
  }
  Taint all;
  for_each_source(op, [&](const RegisterRef& reg) {
    const Taint one = of(reg);
    all = joined(all, one, all.lanes | one.lanes);
  });
  return all;
}

}  // namespace

void Machine::check_registers(Warp& warp, const Op& op, Mask mask) const {
  Mask active = mask;
  if (op.guard) {
    Taint guard = warp.taints.of(op.guard);
    guard.lanes &= mask;
    refuse(*this, guard);
    const Mask holds = warp.predicate(op.guard);
    active &= op.guard_negated ? ~holds : holds;
  }
  if (active == 0) return;
  Taint result;
  if (op.flow != Flow::sink) {
    result = of_result(warp, *this, op);
    result.lanes &= active;
  } else {
    for_each_source(op, [&](const RegisterRef& reg) {
      if (!op.touches_in_flight) refuse_owned(warp, *this, reg);
      Taint taint = warp.taints.of(reg);
      taint.lanes &= active;
      refuse(*this, taint);
    });
  }
  for_each_result(op, [&](const RegisterRef& reg) {
    if (!op.touches_in_flight) refuse_owned(warp, *this, reg);
    warp.taints.put(reg, active, result);
  });
}

}  // namespace tma_jit::emulator
