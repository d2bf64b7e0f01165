#include "emulator/machine/wgmma_operation.h"

#include <algorithm>

#include "emulator/machine/machine.h"

namespace tma_jit::emulator {

std::vector<u8*> WgmmaOperation::registers(const std::vector<RegisterRef>& refs) const {
  std::vector<u8*> pointers;
  pointers.reserve(refs.size() * kWarpsOfGroup);
  for (Warp* member : warps) {
    for (const RegisterRef& reg : refs) pointers.push_back(const_cast<u8*>(member->values<u8>(reg)));
  }
  return pointers;
}

bool WgmmaOperation::perform(Machine& machine) {
  const auto size = static_cast<u32>(block->shared.size());
  std::vector<ByteRange> spans;
  matrix::append_common_footprint(instruction, size, spans);
  machine.record_shared(*block, spans, {false, stamp, &clocks, "wgmma"});
  for (u32 i = 0; i < kWarpsOfGroup; ++i) {
    spans.clear();
    matrix::append_own_footprint(instruction, i, size, spans);
    machine.record_shared(*block, spans, {false, stamp, &warp_clocks.at(i), "wgmma"});
  }
  const std::vector<u8*> a = registers(form->a), d = registers(form->d);
  matrix::execute(instruction, block->shared.data(), a, d);
  done = true;
  for (Warp* member : warps) machine.wake(&member->wgmma);
  return true;
}

std::vector<RegisterRef> WgmmaForm::reads() const {
  std::vector<RegisterRef> refs = {a_descriptor, b_descriptor, accumulate};
  refs.insert(refs.end(), a.begin(), a.end());
  return refs;
}

void note_register_use(Warp& warp, const Op& op) {
  WgmmaState& state = warp.wgmma;
  if (state.touched.empty()) state.touched.resize(warp.machine().program().register_numbers(), 0);
  const auto age_of = [&state](const RegisterRef& reg) {
    return reg.bank == RegisterRef::registers ? state.touched[reg.number()] : 0;
  };
  u32 when = state.fence + 1;
  if (op.is_move) {
    when = age_of(op.a);
    for (const RegisterRef& reg : op.list) when = op.writes_list ? when : std::max(when, age_of(reg));
  }
  const auto note = [&](const RegisterRef& reg) {
    if (reg.bank == RegisterRef::registers) state.touched[reg.number()] = when;
  };
  note(op.d);
  if (!op.writes_list) return;
  for (const RegisterRef& reg : op.list) note(reg);
}

}  // namespace tma_jit::emulator
