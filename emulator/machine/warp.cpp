#include "emulator/machine/warp.h"

#include <bit>
#include <cstring>

#include "emulator/machine/activations.h"
#include "emulator/machine/address.h"
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
  banks_[RegisterRef::registers] = registers_;
  banks_[RegisterRef::constants] = machine.constants();
  subwarps_.push_back({0, live});
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
    for (int i = 0; i < kLanes; ++i) set_lane(preset.reg, i, preset_value(preset, i));
  }
}

void Warp::set_predicate(const RegisterRef& reg, Mask active, Mask value) {
  if (!reg) return;
  auto* mask = reinterpret_cast<Mask*>(registers_ + reg.offset);
  *mask = (*mask & ~active) | (value & active);
}

void Warp::set(const RegisterRef& reg, Mask active, const void* value) {
  if (!reg) return;
  u8* bytes = registers_ + reg.offset;
  switch (reg.width) {
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
    throw_fault(FaultKind::bounds, "an access of {} bytes to local memory at {:#x}; a thread has {} bytes", bytes,
                address, each);
  }
  if (local_.empty()) local_.assign(std::size_t{each} * kLanes, 0xCB);
  return local_.data() + std::size_t{each} * static_cast<u32>(lane) + address;
}

bool Warp::select() {
  const auto goes_first = [](const Subwarp& a, const Subwarp& b) {
    return (a.delay != 0) != (b.delay != 0) ? a.delay == 0 : a.pc < b.pc;
  };
  bool found = false;
  for (std::size_t i = 0; i < subwarps_.size(); ++i) {
    if (subwarps_[i].state != Subwarp::State::runnable) continue;
    if (!found || goes_first(subwarps_[i], subwarps_[current_])) current_ = i;
    found = true;
  }
  if (!found) return false;
  subwarps_[current_].delay = 0;
  for (Subwarp& subwarp : subwarps_) subwarp.delay -= subwarp.delay != 0 ? 1 : 0;
  return true;
}

bool Warp::end_delays() {
  bool ahead = false;
  for (Subwarp& subwarp : subwarps_) {
    ahead = ahead || (subwarp.delay != 0 && subwarp.pc < subwarps_[current_].pc);
    subwarp.delay = 0;
  }
  return ahead;
}

bool Warp::select_other() {
  for (std::size_t i = 1; i < subwarps_.size(); ++i) {
    const std::size_t next = (current_ + i) % subwarps_.size();
    if (subwarps_[next].state != Subwarp::State::runnable) continue;
    current_ = next;
    subwarps_[current_].delay = 0;
    return true;
  }
  return false;
}

bool Warp::runnable() const {
  for (const Subwarp& subwarp : subwarps_) {
    if (subwarp.state == Subwarp::State::runnable) return true;
  }
  return false;
}

void Warp::merge() {
  for (std::size_t i = 0; i < subwarps_.size();) {
    const Subwarp& other = subwarps_[i];
    if (i == current_ || other.pc != subwarps_[current_].pc || other.state == Subwarp::State::waiting ||
        other.delay != 0) {
      ++i;
      continue;
    }
    subwarps_[current_].mask |= other.mask;
    subwarps_.erase(subwarps_.begin() + static_cast<std::ptrdiff_t>(i));
    if (i < current_) --current_;
  }
}

bool Warp::converged(const Op& op) const {
  const Mask here = subwarp().mask;
  if (op.convergence == Convergence::none || here == live_) return true;
  if (op.convergence == Convergence::all) return false;
  for (int i = 0; i < kLanes; ++i) {
    if ((here >> i & 1U) != 0 && (lane(op.members, i) & live_ & ~here) != 0) return false;
  }
  return true;
}

void Warp::branch(u32 target, Mask taken) {
  Subwarp& here = subwarps_[current_];
  if (taken == here.mask) {
    here.pc = target;
    if (machine_.splits_lanes()) split();
    return;
  }
  Subwarp rest;
  rest.pc = here.pc + 1;
  rest.mask = here.mask & ~taken;
  here.pc = target;
  here.mask = taken;
  if (subwarps_.size() == 1 && machine_.delays_branch()) {
    Subwarp& first = rest.pc < target ? rest : here;
    first.delay = machine_.delay_length();
  }
  subwarps_.push_back(rest);
  select();
}

// Splits off the first lane, which most kernels elect to act for the warp. Either side may run ahead.
void Warp::split() {
  Subwarp& here = subwarps_[current_];
  const Mask first = here.mask & -here.mask;
  if (subwarps_.size() > 1 || first == here.mask) return;
  Subwarp delayed = here;
  delayed.mask = machine_.random().below(2) == 0 ? first : here.mask & ~first;
  delayed.delay = machine_.delay_length();
  here.mask &= ~delayed.mask;
  subwarps_.push_back(delayed);
}

void Warp::branch(const std::map<u32, Mask>& targets) {
  Mask rest = subwarps_[current_].mask;
  for (const auto& [target, lanes] : targets) {
    rest &= ~lanes;
    subwarps_.push_back({target, lanes});
  }
  if (rest != 0) {
    subwarps_[current_].mask = rest;
    ++subwarps_[current_].pc;
  } else {
    subwarps_.erase(subwarps_.begin() + static_cast<std::ptrdiff_t>(current_));
    current_ = 0;
  }
  select();
}

void Warp::exit(Mask lanes) {
  live_ &= ~lanes;
  block_.cluster().barrier.arrived -= static_cast<u32>(std::popcount(cluster_arrived & lanes));
  cluster_arrived &= ~lanes;
  check_cluster_barrier(machine_, block_.cluster());
  Subwarp& here = subwarps_[current_];
  here.mask &= ~lanes;
  if (here.mask != 0) {
    ++here.pc;
  } else {
    subwarps_.erase(subwarps_.begin() + static_cast<std::ptrdiff_t>(current_));
    current_ = 0;
  }
  // Subwarps that wait to converge with the exited lanes become runnable.
  for (Subwarp& subwarp : subwarps_) {
    if (subwarp.state == Subwarp::State::converging) subwarp.state = Subwarp::State::runnable;
  }
  select();
}

Step Warp::wait_for(const void* token, Step how, u64 detail) {
  Subwarp& here = subwarps_[current_];
  here.state = Subwarp::State::waiting;
  here.token = token;
  here.detail = detail;
  here.resumes_after = how == Step::pause;
  return how;
}

bool Warp::wake(const void* token) {
  bool woken = false;
  for (Subwarp& subwarp : subwarps_) {
    if (subwarp.state != Subwarp::State::waiting || subwarp.token != token) continue;
    subwarp.state = Subwarp::State::runnable;
    subwarp.token = nullptr;
    if (subwarp.resumes_after) ++subwarp.pc;
    woken = true;
  }
  return woken;
}

}  // namespace tma_jit::emulator
