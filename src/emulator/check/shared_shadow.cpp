#include "emulator/check/shared_shadow.h"

#include <cstring>

#include "emulator/exec/block.h"
#include "emulator/exec/machine.h"
#include "emulator/fault.h"

namespace tma_jit::emulator::check {
namespace {

constexpr u32 kWholeWord = 0xf;
constexpr u8 kSplitLanes = 0xfe;

// A write after a read needs only that the read is over.
bool ordered(const Stamp& earlier, const Access& access, const Clock& after) {
  if (!earlier) return true;
  if ((earlier.flags & access.stamp.flags & Access::kStrong) != 0) return true;
  if (earlier.actor != access.stamp.actor) return after.covers(earlier);
  if (earlier.time < access.stamp.time) return true;
  return earlier.lane == access.stamp.lane ||
         earlier.lane == kSplitLanes;  // a lane is ordered with itself; a channel has no lanes
}

std::string side(const Block& owner, const Stamp& stamp, std::string_view what) {
  return owner.machine().describe(owner, stamp, what);
}

[[noreturn]] void report_race(const Block& owner, u32 address, const Stamp& earlier, bool earlier_wrote,
                              const Access& access) {
  Fault fault{
      FaultKind::race,
      fmt::format("two accesses to shared memory at {:#x} of {} are not ordered: {} and {}", address, owner.name(),
                  earlier_wrote ? "a write" : "a read", access.write ? "a write" : "a read"),
      "order them: a barrier between the warps, an mbarrier phase that the second side waits for, or the wait of "
      "the asynchronous operation",
      side(owner, earlier, earlier_wrote ? "first, written" : "first, read") + "\n" +
          side(owner, access.stamp, access.write ? "then written" : "then read")};
  throw fault;
}

[[noreturn]] void report_proxy(const Block& owner, u32 address, const Stamp& writer, const Access& access) {
  throw Fault{
      FaultKind::proxy,
      fmt::format("{} reads shared memory at {:#x} of {} that was written through the generic proxy with no proxy "
                  "fence in between",
                  access.what, address, owner.name()),
      "the writer executes fence.proxy.async.shared::cta after its stores and before the barrier",
      side(owner, writer, "written") + "\n" + side(owner, access.stamp, "read")};
}

[[noreturn]] void report_uninitialised(const Block& owner, u32 address, const Access& access) {
  throw Fault{
      FaultKind::uninitialised,
      fmt::format("{} reads shared memory at {:#x} of {} that nothing has written", access.what, address, owner.name()),
      "shared memory holds anything when a block starts: write it first, or wait for the copy that fills it",
      side(owner, access.stamp, "read")};
}

}  // namespace

bool SharedShadow::same(const Word& a, const Word& b) {
  static_assert(std::has_unique_object_representations_v<Stamp> && sizeof(Word) % sizeof(u64) == 0);
  u64 x[sizeof(Word) / sizeof(u64)], y[sizeof(Word) / sizeof(u64)];
  std::memcpy(x, &a, sizeof x);
  std::memcpy(y, &b, sizeof y);
  u64 difference = 0;
  for (std::size_t i = 0; i < std::size(x); ++i) difference |= x[i] ^ y[i];
  return difference == 0;
}

void SharedShadow::resize(std::size_t bytes) {
  chunks_.assign((bytes + kChunk - 1) / kChunk, 0);
  states_.assign(1, {Word{}, static_cast<u32>(chunks_.size()) + 1});  // that of fresh memory always has a use
}

void SharedShadow::record(const Block& owner, u32 offset, u32 bytes, const Access& access) {
  if (chunks_.empty()) return;
  const bool again =
      (access.stamp.flags & Access::kAsync) != 0 && memory_.stamp == access.stamp && memory_.write == access.write;
  if (!again) memory_ = {access.stamp, access.write, false, 0, 0};
  const u32 end = offset + bytes;
  while (offset < end) {
    const u32 next = std::min(end, (offset / kChunk + 1) * kChunk);
    if (next - offset == kChunk)
      record_whole(owner, offset / kChunk, access);
    else
      record_part(owner, offset, next, access);
    offset = next;
  }
}

void SharedShadow::record_whole(const Block& owner, u32 index, const Access& access) {
  Chunk& chunk = chunks_[index];
  if ((chunk & kSplit) != 0) {
    record_part(owner, index * kChunk, (index + 1) * kChunk, access);
    return unite(chunk);
  }
  if (!memory_.valid || chunk != memory_.before) {
    Word word = states_[chunk].word;
    apply(owner, word, index * kChunk, kWholeWord, access);
    const Chunk after = same(word, states_[chunk].word) ? chunk : enter(word);
    memory_.before = chunk;
    memory_.after = after;
    memory_.valid = true;
  }
  if (memory_.after == chunk) return;
  ++states_[memory_.after].uses;
  const Chunk before = chunk;
  chunk = memory_.after;
  leave(before);
}

void SharedShadow::record_part(const Block& owner, u32 offset, u32 end, const Access& access) {
  Words& words = split(chunks_[offset / kChunk]);
  for (u32 address = offset / 4 * 4; address < end; address += 4) {
    const u32 first = std::max(offset, address) - address;
    const u32 last = std::min(end, address + 4) - address;
    apply(owner, words[address / 4 % kWords], address, (1U << last) - (1U << first), access);
  }
}

SharedShadow::Words& SharedShadow::split(Chunk& chunk) {
  if ((chunk & kSplit) != 0) return split_[chunk & ~kSplit];
  if (unused_split_.empty()) {
    unused_split_.push_back(static_cast<u32>(split_.size()));
    split_.emplace_back();
  }
  const u32 index = unused_split_.back();
  unused_split_.pop_back();
  split_[index].fill(states_[chunk].word);
  leave(chunk);
  chunk = index | kSplit;
  return split_[index];
}

void SharedShadow::unite(Chunk& chunk) {
  const Words& words = split_[chunk & ~kSplit];
  for (u32 i = 1; i < kWords; ++i) {
    if (!same(words[0], words[i])) return;
  }
  unused_split_.push_back(chunk & ~kSplit);
  const bool known = memory_.valid && same(words[0], states_[memory_.after].word);
  chunk = known ? memory_.after : enter(words[0]);
  ++states_[chunk].uses;
}

// A state that no chunk is in yet.
SharedShadow::Chunk SharedShadow::enter(const Word& word) {
  if (unused_states_.empty()) {
    unused_states_.push_back(static_cast<Chunk>(states_.size()));
    states_.emplace_back();
  }
  const Chunk state = unused_states_.back();
  unused_states_.pop_back();
  states_[state] = {word, 0};
  return state;
}

void SharedShadow::leave(Chunk state) {
  if (--states_[state].uses != 0) return;
  unused_states_.push_back(state);
  if (state == memory_.before || state == memory_.after) memory_.valid = false;
}

void SharedShadow::forget(u32 offset, u32 bytes) {
  for (u32 address = offset / 4 * 4; address < offset + bytes && address / kChunk < chunks_.size(); address += 4) {
    split(chunks_[address / kChunk])[address / 4 % kWords] = Word{};
  }
}

void SharedShadow::apply(const Block& owner, Word& word, u32 address, u32 bytes, const Access& access) {
  if (access.write)
    write(owner, word, address, bytes, access);
  else
    read(owner, word, address, bytes, access);
}

void SharedShadow::read(const Block& owner, Word& word, u32 address, u32 bytes, const Access& access) {
  if ((word.initialised & bytes) != bytes) report_uninitialised(owner, address, access);
  if ((word.written & bytes) == 0) return remember_reader(word, bytes, access);  // the last writer wrote other bytes
  if (!ordered(word.writer, access, access.clocks->seen)) report_race(owner, address, word.writer, true, access);
  const bool async = (access.stamp.flags & Access::kAsync) != 0;
  if (async && word.writer && (word.writer.flags & Access::kAsync) == 0 &&
      !access.clocks->visible.covers(word.writer)) {
    report_proxy(owner, address, word.writer, access);
  }
  remember_reader(word, bytes, access);
}

// One stamp an actor, the latest. Where there is no room, a reader that this access is ordered after may go: whoever
// is ordered after this access is ordered after that one.
void SharedShadow::remember_reader(Word& word, u32 bytes, const Access& access) {
  Stamp* free = nullptr;
  for (Stamp& reader : word.readers) {
    if (reader.actor == access.stamp.actor) {
      const bool again = reader.time == access.stamp.time && reader.lane != access.stamp.lane;
      reader = access.stamp;
      // Lanes that read different bytes of a word may each overwrite their own.
      if (again) reader.lane = bytes == kWholeWord ? kManyLanes : kSplitLanes;
      return;
    }
    if (free == nullptr && (!reader || access.clocks->performed.covers(reader))) free = &reader;
  }
  *(free != nullptr ? free : &word.readers.back()) = access.stamp;
}

void SharedShadow::write(const Block& owner, Word& word, u32 address, u32 bytes, const Access& access) {
  const bool after = ordered(word.writer, access, access.clocks->seen);
  if (!after && (word.written & bytes) != 0) report_race(owner, address, word.writer, true, access);
  for (Stamp& reader : word.readers) {
    if (!ordered(reader, access, access.clocks->performed)) report_race(owner, address, reader, false, access);
    reader = Stamp{};
  }
  word.writer = access.stamp;
  word.written = after ? bytes : word.written | bytes;
  word.initialised |= bytes;
}

}  // namespace tma_jit::emulator::check
