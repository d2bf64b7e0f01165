#include "emulator/machine/warp.h"

#include <bit>
#include <cstring>

#include "emulator/machine/address.h"
#include "emulator/machine/calls.h"
#include "emulator/machine/cluster_barrier.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/special.h"

namespace tma_jit::emulator {
namespace {

constexpr u64 kRegisterAlignment = kRegisterUnit;

template <class T> void blend(T* to, const T* from, Mask active) {
  if (active == kAllLanes) {
    std::memcpy(to, from, kLanes * sizeof(T));
    return;
  }
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    to[i] = from[i];
  }
}

struct Wide {
  u64 word[2];
};

}  // namespace

Warp::Warp(Machine& machine, Block& block, u32 index, Mask live)
    : machine_(machine),
      block_(block),
      index_(index),
      actor_(block.rank() *
                 ((machine.shape().block[0] * machine.shape().block[1] * machine.shape().block[2] + 31) / 32) +
             index),
      live_(live),
      storage_(machine.program().register_bytes + kRegisterAlignment) {
  const u64 start = reinterpret_cast<u64>(storage_.data());
  registers_ = reinterpret_cast<u8*>((start + kRegisterAlignment - 1) / kRegisterAlignment * kRegisterAlignment);
  banks_[Place::registers] = registers_;
  banks_[Place::constants] = machine.constants();
  fragments_.push_back({0, live});
  clock.id = static_cast<check::ActorId>(actor_);
  clock.tick();
  fill_presets();
  if (!machine.program().callables.empty())
    calls_ = std::make_unique<CallStack>((machine.program().local_bytes + 15) / 16 * 16);
}

Warp::~Warp() = default;

u64 Warp::preset_value(const Preset& preset, int lane) const {
  switch (preset.kind) {
    case Preset::Kind::shared: {
      const bool dynamic = preset.value >= kDynamicShared / 2;
      const u64 base = dynamic ? dynamic_shared_offset(machine_.program()) - kDynamicShared : 0;
      return (u64{block_.rank()} << kRankShift) + base + preset.value;
    }
    case Preset::Kind::local: return preset.value;
    case Preset::Kind::parameter: return machine_.shape().parameters + preset.value;
    case Preset::Kind::special: break;
  }
  return special_value(preset.special, *this, lane);
}

void Warp::fill_presets() {
  for (const Preset& preset : machine_.program().presets) {
    for (int i = 0; i < kLanes; ++i) set_lane(preset.place, i, preset_value(preset, i));
  }
}

void Warp::set_predicate(const Place& place, Mask active, Mask value) {
  if (!place) return;
  auto* mask = reinterpret_cast<Mask*>(registers_ + place.offset);
  *mask = (*mask & ~active) | (value & active);
}

void Warp::set(const Place& place, Mask active, const void* value) {
  if (!place) return;
  u8* bytes = registers_ + place.offset;
  switch (place.width) {
    case 2: return blend(reinterpret_cast<u16*>(bytes), static_cast<const u16*>(value), active);
    case 4: return blend(reinterpret_cast<u32*>(bytes), static_cast<const u32*>(value), active);
    case 8: return blend(reinterpret_cast<u64*>(bytes), static_cast<const u64*>(value), active);
    default: return blend(reinterpret_cast<Wide*>(bytes), static_cast<const Wide*>(value), active);
  }
}

u8* Warp::local_at(u32 address, u32 bytes, int lane) {
  const u32 each = machine_.program().local_bytes;
  if (u64{address} + bytes > each) {
    u8* const stack = calls_ != nullptr ? calls_->at(address, bytes, lane) : nullptr;
    if (stack != nullptr) return stack;
    stop(FaultKind::bounds, "an access of {} bytes to local memory at {:#x}; a thread has {} bytes", bytes, address,
         each);
  }
  if (local_.empty()) local_.assign(std::size_t{each} * kLanes, 0xCB);
  return local_.data() + std::size_t{each} * static_cast<u32>(lane) + address;
}

bool Warp::select() {
  const auto goes_first = [](const Fragment& a, const Fragment& b) {
    return (a.behind != 0) != (b.behind != 0) ? a.behind == 0 : a.pc < b.pc;
  };
  bool found = false;
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    if (fragments_[i].state != Fragment::State::runnable) continue;
    if (!found || goes_first(fragments_[i], fragments_[current_])) current_ = i;
    found = true;
  }
  if (!found) return false;
  fragments_[current_].behind = 0;
  for (Fragment& fragment : fragments_) fragment.behind -= fragment.behind != 0 ? 1 : 0;
  return true;
}

bool Warp::catch_up() {
  bool ahead = false;
  for (Fragment& fragment : fragments_) {
    ahead = ahead || (fragment.behind != 0 && fragment.pc < fragments_[current_].pc);
    fragment.behind = 0;
  }
  return ahead;
}

bool Warp::select_other() {
  for (std::size_t i = 1; i < fragments_.size(); ++i) {
    const std::size_t next = (current_ + i) % fragments_.size();
    if (fragments_[next].state != Fragment::State::runnable) continue;
    current_ = next;
    fragments_[current_].behind = 0;
    return true;
  }
  return false;
}

bool Warp::runnable() const {
  for (const Fragment& fragment : fragments_) {
    if (fragment.state == Fragment::State::runnable) return true;
  }
  return false;
}

void Warp::merge() {
  for (std::size_t i = 0; i < fragments_.size();) {
    const Fragment& other = fragments_[i];
    if (i == current_ || other.pc != fragments_[current_].pc || other.state == Fragment::State::waiting ||
        other.behind != 0) {
      ++i;
      continue;
    }
    fragments_[current_].mask |= other.mask;
    fragments_.erase(fragments_.begin() + static_cast<std::ptrdiff_t>(i));
    if (i < current_) --current_;
  }
}

bool Warp::meets(const Op& op) const {
  const Mask here = fragment().mask;
  if (op.meeting == Meeting::none || here == live_) return true;
  if (op.meeting == Meeting::all) return false;
  for (int i = 0; i < kLanes; ++i) {
    if ((here >> i & 1U) != 0 && (lane(op.members, i) & live_ & ~here) != 0) return false;
  }
  return true;
}

void Warp::branch(u32 target, Mask taken) {
  Fragment& here = fragments_[current_];
  if (taken == here.mask) {
    here.pc = target;
    if (machine_.parts_lanes()) part();
    return;
  }
  Fragment rest;
  rest.pc = here.pc + 1;
  rest.mask = here.mask & ~taken;
  here.pc = target;
  here.mask = taken;
  if (fragments_.size() == 1 && machine_.parts_lanes_of_branch()) {
    Fragment& first = rest.pc < target ? rest : here;
    first.behind = machine_.parted_for();
  }
  fragments_.push_back(rest);
  select();
}

// The first lane, which most kernels let act for its warp, and the others: either may run ahead.
void Warp::part() {
  Fragment& here = fragments_[current_];
  const Mask first = here.mask & -here.mask;
  if (fragments_.size() > 1 || first == here.mask) return;
  Fragment behind = here;
  behind.mask = machine_.random().below(2) == 0 ? first : here.mask & ~first;
  behind.behind = machine_.parted_for();
  here.mask &= ~behind.mask;
  fragments_.push_back(behind);
}

void Warp::branch(const std::map<u32, Mask>& ways) {
  Mask rest = fragments_[current_].mask;
  for (const auto& [target, lanes] : ways) {
    rest &= ~lanes;
    fragments_.push_back({target, lanes});
  }
  if (rest != 0) {
    fragments_[current_].mask = rest;
    ++fragments_[current_].pc;
  } else {
    fragments_.erase(fragments_.begin() + static_cast<std::ptrdiff_t>(current_));
    current_ = 0;
  }
  select();
}

void Warp::exit(Mask lanes) {
  live_ &= ~lanes;
  block_.cluster().barrier.arrived -= static_cast<u32>(std::popcount(cluster_arrived & lanes));
  cluster_arrived &= ~lanes;
  check_cluster_barrier(machine_, block_.cluster());
  Fragment& here = fragments_[current_];
  here.mask &= ~lanes;
  if (here.mask != 0) {
    ++here.pc;
  } else {
    fragments_.erase(fragments_.begin() + static_cast<std::ptrdiff_t>(current_));
    current_ = 0;
  }
  // Lanes that wait to meet the exited ones wait no longer.
  for (Fragment& fragment : fragments_) {
    if (fragment.state == Fragment::State::meeting) fragment.state = Fragment::State::runnable;
  }
  select();
}

Step Warp::wait_for(const void* token, Step how, u64 detail) {
  Fragment& here = fragments_[current_];
  here.state = Fragment::State::waiting;
  here.token = token;
  here.detail = detail;
  here.resumes_after = how == Step::pause;
  return how;
}

bool Warp::wake(const void* token) {
  bool woken = false;
  for (Fragment& fragment : fragments_) {
    if (fragment.state != Fragment::State::waiting || fragment.token != token) continue;
    fragment.state = Fragment::State::runnable;
    fragment.token = nullptr;
    if (fragment.resumes_after) ++fragment.pc;
    woken = true;
  }
  return woken;
}

}  // namespace tma_jit::emulator
