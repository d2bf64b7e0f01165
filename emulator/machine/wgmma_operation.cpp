#include "emulator/machine/wgmma_operation.h"

#include <algorithm>

#include "emulator/machine/machine.h"

namespace tma_jit::emulator {

std::vector<u8*> WgmmaOperation::registers(const std::vector<Place>& places) const {
  std::vector<u8*> pointers;
  pointers.reserve(places.size() * kWarpsOfGroup);
  for (Warp* member : warps) {
    for (const Place& place : places) pointers.push_back(const_cast<u8*>(member->values<u8>(place)));
  }
  return pointers;
}

bool WgmmaOperation::perform(Machine& machine) {
  const auto size = static_cast<u32>(block->shared.size());
  std::vector<matrix::Span> spans;
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

std::vector<Place> WgmmaForm::reads() const {
  std::vector<Place> places = {a_descriptor, b_descriptor, accumulate};
  places.insert(places.end(), a.begin(), a.end());
  return places;
}

void note_register_use(Warp& warp, const Op& op) {
  WgmmaState& state = warp.wgmma;
  if (state.touched.empty()) state.touched.resize(warp.machine().program().register_numbers(), 0);
  const auto age_of = [&state](const Place& place) {
    return place.bank == Place::registers ? state.touched[place.number()] : 0;
  };
  u32 when = state.fence + 1;
  if (op.copies) {
    when = age_of(op.a);
    for (const Place& place : op.list) when = op.writes_list ? when : std::max(when, age_of(place));
  }
  const auto note = [&](const Place& place) {
    if (place.bank == Place::registers) state.touched[place.number()] = when;
  };
  note(op.d);
  if (!op.writes_list) return;
  for (const Place& place : op.list) note(place);
}

}  // namespace tma_jit::emulator
