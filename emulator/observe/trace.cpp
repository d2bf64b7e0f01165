#include "emulator/observe/trace.h"

#include <algorithm>
#include <bit>

#include "emulator/machine/address.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator::observe {
namespace {

constexpr std::size_t kMostEvents = 2'000'000;
constexpr u32 kBanks = 32;

bool any_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

Class class_of(const Op& op) {
  if (op.source == nullptr) return Class::control;
  const std::string_view opcode = op.source->opcode, root = op.source->modifiers[0];
  if (any_of(root, {"bra", "ret", "exit", "call", "trap", "brkpt", "nanosleep", "setmaxnreg", "elect"}))
    return Class::control;
  if (any_of(root, {"mma", "ldmatrix", "stmatrix", "movmatrix"})) return Class::tensor_core;
  if (opcode.starts_with("wgmma.mma") || opcode.starts_with("tcgen05.mma") || opcode.starts_with("tcgen05.cp") ||
      opcode.starts_with("tcgen05.ld") || opcode.starts_with("tcgen05.st") || opcode.starts_with("tcgen05.shift"))
    return Class::tensor_core;
  if (any_of(root, {"mbarrier", "bar", "barrier", "fence", "membar", "wgmma", "tcgen05", "griddepcontrol"}) ||
      opcode.find("commit_group") != std::string_view::npos || opcode.find("wait_") != std::string_view::npos)
    return Class::synchronisation;
  if (root == "cp" || opcode.starts_with("st.async") || opcode.starts_with("red.async") || root == "prefetch")
    return Class::copy;
  if (any_of(root, {"ld", "st", "atom", "red", "ldu"})) return Class::memory;
  if (any_of(root, {"mov", "cvt", "cvta", "shfl", "prmt", "selp", "mapa", "vote", "activemask", "match"}))
    return Class::move;
  return Class::arithmetic;
}

bool starts_operation(Class kind, std::string_view opcode) {
  return kind == Class::copy || opcode.starts_with("wgmma.mma") || opcode.starts_with("tcgen05.mma") ||
         opcode.starts_with("tcgen05.cp") || opcode.starts_with("tcgen05.commit");
}

std::string_view space_name(const Op& op) {
  switch (op.space) {
    case ptx::Space::shared: return "shared";
    case ptx::Space::global: return "global";
    case ptx::Space::local: return "local";
    case ptx::Space::param: return "parameter";
    case ptx::Space::constant: return "constant";
    default: return "generic";
  }
}

// Returns the passes that a group of lanes needs: the largest number of words in one bank.
u64 passes(const std::vector<u32>& addresses, u32 bytes) {
  std::array<std::vector<u32>, kBanks> words;
  for (const u32 address : addresses) {
    for (u32 word = address / 4; word * 4 < address + bytes; ++word) {
      auto& bank = words[word % kBanks];
      if (std::ranges::find(bank, word) == bank.end()) bank.push_back(word);
    }
  }
  std::size_t most = 0;
  for (const auto& bank : words) most = std::max(most, bank.size());
  return most;
}

}  // namespace

std::string_view name_of(Class kind) {
  static constexpr std::array<std::string_view, kClasses> kNames = {
      "arithmetic",   "moves and conversions", "loads and stores", "copies",
      "tensor cores", "synchronisation",       "control"};
  return kNames[static_cast<std::size_t>(kind)];
}

Trace::Trace(const Machine& machine) : machine_(machine) {
  for (const Op& op : machine.program().ops) classes_.push_back(class_of(op));
}

u32 Trace::number_of(const Block& block) const {
  const Dim3& grid = machine_.shape().grid;
  const Dim3& at = block.index();
  return at[0] + grid[0] * (at[1] + grid[1] * at[2]);
}

void Trace::add(Event event) {
  if (events_.size() < kMostEvents) {
    events_.push_back(event);
  } else {
    ++dropped_;
  }
}

void Trace::close(const Warp& warp, Track& track) {
  if (track.open)
    add({Event::Kind::slice, number_of(warp.block()), warp.index(), track.begin, track.end, "compute", "run", 0, 0});
  track.open = false;
}

void Trace::executes(const Warp& warp, const Op& op, Mask active) {
  const Class kind = classes_[static_cast<std::size_t>(&op - machine_.program().ops.data())];
  ++mix_[static_cast<std::size_t>(kind)];
  Track& track = warps_[&warp];
  const u32 block = number_of(warp.block());
  if (op.source != nullptr) {
    ++opcodes_[std::string(op.source->opcode)];
    if (kind == Class::memory || op.source->modifiers[0] == "ldmatrix" || op.source->modifiers[0] == "stmatrix") {
      count_banks(warp, op, active);
      count_bytes(op, active);
    }
  }
  if (track.waits != nullptr) {
    add({Event::Kind::slice, block, warp.index(), track.waits_since, time_, "wait", track.waits->source->opcode, 0,
         track.waits->source->line});
    track.waits = nullptr;
  }
  if (track.open && track.end != time_) close(warp, track);
  if (op.source != nullptr && starts_operation(kind, op.source->opcode)) {
    close(warp, track);
    add({Event::Kind::slice, block, warp.index(), time_, time_ + 1, "issue", op.source->opcode, 0, op.source->line});
  } else {
    if (!track.open) track.begin = time_;
    track.open = true;
    track.end = time_ + 1;
  }
  ++time_;
}

void Trace::executed(const Warp& warp, const Op& op, Step step) {
  if ((step != Step::wait && step != Step::pause) || op.source == nullptr) return;
  Track& track = warps_[&warp];
  close(warp, track);
  track.waits = &op;
  track.waits_since = time_;
}

void Trace::exited(const Warp& warp) {
  const auto found = warps_.find(&warp);
  if (found == warps_.end()) return;
  close(warp, found->second);
  tracks_[number_of(warp.block())][warp.index()] = fmt::format("warp {}", warp.index());
  warps_.erase(found);
}

void Trace::completes_phase(const Block& block, u32 offset, u32 phase) {
  const u32 number = number_of(block), track = kFirstBarrier + offset;
  u64& began = phases_[u64{number} << 32 | offset];
  add({Event::Kind::slice, number, track, began, time_, "phase", {}, phase, 0});
  tracks_[number][track] = fmt::format("mbarrier {:#x}", offset);
  began = time_;
}

void Trace::issued(const AsyncOperation& operation) {
  operations_[&operation] = time_;
}

void Trace::completed(const AsyncOperation& operation) {
  const auto found = operations_.find(&operation);
  if (found == operations_.end() || operation.op == nullptr || operation.op->source == nullptr) return;
  add({Event::Kind::operation, number_of(*operation.block), operation.warp != nullptr ? operation.warp->index() : 0,
       found->second, time_, "operation", operation.op->source->opcode, 0, operation.op->source->line});
  operations_.erase(found);
}

void Trace::count_bytes(const Op& op, Mask active) {
  const std::string_view root = op.source->modifiers[0];
  const u64 lanes = static_cast<u64>(std::popcount(active));
  const u64 each = root.ends_with("matrix") ? 4 * op.list.size()
                                            : static_cast<u64>(ptx::size_of(op.type)) * std::max<u64>(1, op.vector);
  moved(fmt::format("{} {}", root, root.ends_with("matrix") ? "shared" : space_name(op)), lanes * each);
}

// A pass serves as many lanes as fit into 128 bytes; ldmatrix and stmatrix take 8 rows of 16 bytes per pass.
void Trace::count_banks(const Warp& warp, const Op& op, Mask active) {
  const bool matrix = op.source->modifiers[0].ends_with("matrix");
  if (!matrix && op.space != ptx::Space::shared && op.space != ptx::Space::generic) return;
  const u32 bytes = matrix ? 16 : static_cast<u32>(ptx::size_of(op.type)) * std::max<u32>(1, op.vector);
  const int group = static_cast<int>(std::min<u32>(kLanes, 128 / std::max(bytes, 4U)));
  const int last = matrix ? static_cast<int>(std::min<std::size_t>(8 * op.list.size(), kLanes)) : kLanes;
  SharedUse use;
  for (int first = 0; first < last; first += group) {
    std::vector<u32> addresses;
    for (int i = first; i < std::min(first + group, last); ++i) {
      if ((active >> i & 1U) == 0) continue;
      const u64 address = warp.address(op, op.a, i);
      if (op.space == ptx::Space::generic && !matrix && !is_shared(address)) return;
      addresses.push_back(static_cast<u32>(address) & kOffsetMask);
    }
    if (addresses.empty()) continue;
    use.wavefronts += passes(addresses, bytes);
    ++use.least;
  }
  SharedUse& sum = shared_[std::string(op.source->modifiers[0])];
  ++sum.instructions;
  sum.wavefronts += use.wavefronts;
  sum.least += use.least;
}

bool Trace::finish() {
  for (auto& [warp, track] : warps_) close(*warp, track);
  warps_.clear();
  return write_timeline(machine_.settings().trace.string(), machine_, *this);
}

}  // namespace tma_jit::emulator::observe
