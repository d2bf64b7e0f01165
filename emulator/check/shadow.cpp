#include "emulator/check/shadow.h"

#include <cstring>

#include "emulator/fault.h"

namespace tma_jit::emulator::check {

Shadow::Shadow(const Rules& rules) : rules_(rules) {
  states_.push_back({Bytes{{}, {}, rules.initialised ? u64{1} : 0}, 0});
}

bool Shadow::same(const Bytes& a, const Bytes& b) {
  static_assert(std::has_unique_object_representations_v<Stamp> && sizeof(Bytes) % sizeof(u64) == 0);
  u64 x[sizeof(Bytes) / sizeof(u64)], y[sizeof(Bytes) / sizeof(u64)];
  std::memcpy(x, &a, sizeof x);
  std::memcpy(y, &b, sizeof y);
  u64 difference = 0;
  for (std::size_t i = 0; i < std::size(x); ++i) difference |= x[i] ^ y[i];
  return difference == 0;
}

void Shadow::record(const Recording& recording, Cell* cells, u32 size, Range range, u64 address) {
  for_each_cell(cells, size, range, [&](Cell& cell, Range part, u32 offset) {
    if (!part.covers(size) || (cell & kSplit) != 0) return record_parts(recording, cell, size, part, address + offset);
    if (recording.cache == nullptr || !repeat(*recording.cache, cell)) record_whole(recording, cell, address + offset);
  });
}

void Shadow::record_parts(const Recording& recording, Cell& cell, u32 size, Range range, u64 address) {
  record(recording, split(cell, size).data(), part_of(size), range, address);
  if (range.end == size) merge(cell, size, range.begin == 0);
}

// A state that is used by this cell only is modified in place.
void Shadow::record_whole(const Recording& recording, Cell& cell, u64 address) {
  const auto& [access, cache] = recording;
  if (cell != kFresh && states_[cell].uses == 1) return apply(states_[cell].bytes, address, access);
  Bytes bytes = states_[cell].bytes;
  apply(bytes, address, access);
  const Cell before = cell;
  if (cache != nullptr && access.write && cache->count != 0) {
    cell = cache->transitions[0].after;
    ++states_[cell].uses;
  } else if (!same(bytes, states_[cell].bytes)) {
    cell = add_state(bytes);
  } else {
    ++states_[cell].uses;
  }
  if (cache != nullptr) remember(*cache, {before, cell});
  release_state(before);
}

// Returns the cache for the access's stamp, cleared if it held another stamp's transitions.
Shadow::TransitionCache& Shadow::transition_cache_of(const Access& access) {
  const u64 hash = (reinterpret_cast<u64>(access.stamp.op) + (access.write ? 1 : 0)) * 0x9E3779B97F4A7C15;
  TransitionCache& cache = transition_caches_[hash / (~u64{0} / kTransitionCaches + 1)];
  if (cache.stamp == access.stamp && cache.write == access.write) return cache;
  for (const Transition& change : cache.entries()) forget(change);
  cache.stamp = access.stamp;
  cache.write = access.write;
  cache.count = 0;
  return cache;
}

// A cached transition counts as a use of its states, so that they are not modified in place.
void Shadow::remember(TransitionCache& cache, const Transition& change) {
  Transition& oldest = cache.transitions[cache.count % cache.transitions.size()];
  if (cache.count++ >= cache.transitions.size()) forget(oldest);
  ++states_[change.before].uses;
  ++states_[change.after].uses;
  oldest = change;
}

void Shadow::forget(const Transition& change) {
  release_state(change.before);
  release_state(change.after);
}

template <std::size_t N> u32 Shadow::Parts<N>::take() {
  if (unused.empty()) {
    all.emplace_back();
    return static_cast<u32>(all.size() - 1);
  }
  const u32 index = unused.back();
  unused.pop_back();
  return index;
}

std::span<Shadow::Cell> Shadow::parts_of(Cell cell, u32 size) {
  if (size == kRow) return rows_.all[cell & ~kSplit];
  return words_.all[cell & ~kSplit];
}

std::span<Shadow::Cell> Shadow::split(Cell& cell, u32 size) {
  if ((cell & kSplit) != 0) return parts_of(cell, size);
  const Cell whole = cell;
  cell = (size == kRow ? rows_.take() : words_.take()) | kSplit;
  const std::span<Cell> parts = parts_of(cell, size);
  std::ranges::fill(parts, whole);
  states_[whole].uses += static_cast<u32>(parts.size()) - 1;
  return parts;
}

// Merges the parts into one cell if all are in one state. `thoroughly` also compares different states by value.
void Shadow::merge(Cell& cell, u32 size, bool thoroughly) {
  const std::span<const Cell> parts = parts_of(cell, size);
  const Cell first = parts[0];
  for (const Cell part : parts) {
    if ((part & kSplit) != 0) return;
    if (part == first) continue;
    if (!thoroughly || !same(states_[part].bytes, states_[first].bytes)) return;
  }
  (size == kRow ? rows_.unused : words_.unused).push_back(cell & ~kSplit);
  cell = first;
  for (const Cell part : parts.subspan(1)) release_state(part);
}

Shadow::Cell Shadow::add_state(const Bytes& bytes) {
  if (unused_states_.empty()) {
    unused_states_.push_back(static_cast<Cell>(states_.size()));
    states_.emplace_back();
  }
  const Cell state = unused_states_.back();
  unused_states_.pop_back();
  states_[state] = {bytes, 1};
  return state;
}

void Shadow::forget(Cell* cells, u32 size, Range range) {
  for_each_cell(cells, size, range, [&](Cell& cell, Range part, u32) {
    if (!part.covers(size) || (cell & kSplit) != 0) return forget(split(cell, size).data(), part_of(size), part);
    release_state(cell);
    cell = kFresh;
  });
}

void Shadow::visit(Cell cell, u32 size, u64 address, const Visitor& f) const {
  if ((cell & kSplit) != 0) {
    const u32 index = cell & ~kSplit, part = part_of(size);
    const std::span<const Cell> parts =
        size == kRow ? std::span<const Cell>(rows_.all[index]) : std::span<const Cell>(words_.all[index]);
    for (std::size_t i = 0; i < parts.size(); ++i) visit(parts[i], part, address + i * part, f);
    return;
  }
  const Stamp& writer = states_[cell].bytes.writer;
  const Stamp& reader = states_[cell].bytes.readers[0];
  const auto weak = [](const Stamp& stamp) { return stamp && (stamp.flags & Access::kStrong) == 0; };
  if (writer || reader)
    f(address, size, writer ? writer : reader, static_cast<bool>(writer), !weak(writer) && !weak(reader));
}

// Two accesses of different lanes of a warp are unordered between two of its synchronising instructions. A channel has
// no lanes.
bool Shadow::ordered(const Stamp& earlier, const Access& access, Clock Clocks::*kind) const {
  if (!earlier) return true;
  const Stamp& stamp = access.stamp;
  if ((earlier.flags & stamp.flags & Access::kStrong) != 0) return true;
  if (earlier.actor != stamp.actor || earlier.cluster != stamp.cluster)
    return access.clocks->covers(kind, earlier, stamp.cluster);
  const bool engine = (earlier.flags & stamp.flags & Access::kAsync) != 0;
  if (engine && !rules_.in_order && earlier.time != stamp.time)
    return access.clocks->covers(kind, earlier, stamp.cluster);
  if (earlier.time < stamp.time || earlier.lane == stamp.lane) return true;
  // A lane may read a value that several lanes have written, itself among them.
  return access.write ? (stamp.flags & Access::kRepeated) != 0 && earlier.op == stamp.op
                      : (earlier.flags & Access::kRepeated) != 0;
}

void Shadow::apply(Bytes& bytes, u64 address, const Access& access) const {
  access.write ? write(bytes, address, access) : read(bytes, address, access);
}

void Shadow::read(Bytes& bytes, u64 address, const Access& access) const {
  if (bytes.initialised == 0) report_uninitialised(address, access);
  const Stamp& writer = bytes.writer;
  if (!ordered(writer, access, &Clocks::seen)) report_race(address, writer, true, access);
  const bool other_proxy = (access.stamp.flags & Access::kAsync) != 0 && (writer.flags & Access::kAsync) == 0;
  if (other_proxy && writer && !access.clocks->covers(rules_.visible, writer, access.stamp.cluster))
    report_proxy(address, writer, access);
  remember_reader(bytes, access);
}

// Keeps the latest stamp of each actor. If there is no room, a reader that this access is ordered after is replaced:
// every later access that is ordered after this one is ordered after that reader too.
void Shadow::remember_reader(Bytes& bytes, const Access& access) {
  const Stamp& stamp = access.stamp;
  Stamp* free = nullptr;
  for (Stamp& reader : bytes.readers) {
    if (reader.actor == stamp.actor && reader.cluster == stamp.cluster) {
      const bool again = reader.time == stamp.time && reader.lane != stamp.lane;
      reader = stamp;
      if (again) reader.lane = kManyLanes;
      return;
    }
    if (free == nullptr && (!reader || access.clocks->covers(&Clocks::performed, reader, stamp.cluster)))
      free = &reader;
  }
  *(free != nullptr ? free : &bytes.readers.back()) = stamp;
}

// A write after a read only requires that the read has completed, not that its effects are visible.
void Shadow::write(Bytes& bytes, u64 address, const Access& access) const {
  if (!ordered(bytes.writer, access, &Clocks::seen)) report_race(address, bytes.writer, true, access);
  for (Stamp& reader : bytes.readers) {
    if (!ordered(reader, access, &Clocks::performed)) report_race(address, reader, false, access);
    reader = Stamp{};
  }
  bytes.writer = access.stamp;
  bytes.initialised = 1;
}

void Shadow::report_race(u64 address, const Stamp& earlier, bool earlier_wrote, const Access& access) const {
  throw Fault{
      FaultKind::race,
      fmt::format("two accesses to {} are not ordered: {} and {}", location(address),
                  earlier_wrote ? "a write" : "a read", access.write ? "a write" : "a read"),
      "order them: a barrier between the warps, an mbarrier phase that the second side waits for, or the wait of "
      "the asynchronous operation; between blocks a release on one side and an acquire on the other",
      side(earlier, earlier_wrote ? "first, written" : "first, read") + "\n" +
          side(access.stamp, access.write ? "then written" : "then read")};
}

void Shadow::report_proxy(u64 address, const Stamp& writer, const Access& access) const {
  throw Fault{FaultKind::proxy,
              fmt::format("{} reads {} that was written through the generic proxy with no proxy fence in between",
                          access.what, location(address)),
              fmt::format("the writer executes {} after its stores and before the barrier", rules_.fence),
              side(writer, "written") + "\n" + side(access.stamp, "read")};
}

void Shadow::report_uninitialised(u64 address, const Access& access) const {
  throw Fault{FaultKind::uninitialised,
              fmt::format("{} reads {} that nothing has written", access.what, location(address)),
              "shared memory holds anything when a block starts: write it first, or wait for the copy that fills it",
              side(access.stamp, "read")};
}

}  // namespace tma_jit::emulator::check
