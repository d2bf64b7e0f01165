#include "emulator/check/shared_shadow.h"

#include "emulator/exec/block.h"
#include "emulator/exec/machine.h"
#include "emulator/fault.h"

namespace tma_jit::emulator::check {
namespace {

constexpr u8 kWholeWord = 0xf;
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

[[noreturn]] void report_race(const Block& owner, u32 word, const Stamp& earlier, bool earlier_wrote,
                              const Access& access) {
  Fault fault{
      FaultKind::race,
      fmt::format("two accesses to shared memory at {:#x} of {} are not ordered: {} and {}", 4 * word, owner.name(),
                  earlier_wrote ? "a write" : "a read", access.write ? "a write" : "a read"),
      "order them: a barrier between the warps, an mbarrier phase that the second side waits for, or the wait of "
      "the asynchronous operation",
      side(owner, earlier, earlier_wrote ? "first, written" : "first, read") + "\n" +
          side(owner, access.stamp, access.write ? "then written" : "then read")};
  throw fault;
}

[[noreturn]] void report_proxy(const Block& owner, u32 word, const Stamp& writer, const Access& access) {
  throw Fault{
      FaultKind::proxy,
      fmt::format("{} reads shared memory at {:#x} of {} that was written through the generic proxy with no proxy "
                  "fence in between",
                  access.what, 4 * word, owner.name()),
      "the writer executes fence.proxy.async.shared::cta after its stores and before the barrier",
      side(owner, writer, "written") + "\n" + side(owner, access.stamp, "read")};
}

[[noreturn]] void report_uninitialised(const Block& owner, u32 word, const Access& access) {
  throw Fault{FaultKind::uninitialised,
              fmt::format("{} reads shared memory at {:#x} of {} that nothing has written", access.what, 4 * word,
                          owner.name()),
              "shared memory holds anything when a block starts: write it first, or wait for the copy that fills it",
              side(owner, access.stamp, "read")};
}

}  // namespace

void SharedShadow::record(const Block& owner, u32 offset, u32 bytes, const Access& access) {
  if (words_.empty()) return;
  const u32 end = offset + bytes;
  for (u32 word = offset / 4; word * 4 < end; ++word) {
    const u32 first = std::max(offset, word * 4) - word * 4;
    const u32 last = std::min(end, word * 4 + 4) - word * 4;
    const auto mask = static_cast<u8>((1U << last) - (1U << first));
    if (access.write)
      write(owner, word, mask, access);
    else
      read(owner, word, mask, access);
  }
}

void SharedShadow::forget(u32 offset, u32 bytes) {
  for (u32 word = offset / 4; word * 4 < offset + bytes && word < words_.size(); ++word) words_[word] = Word{};
}

void SharedShadow::read(const Block& owner, u32 word, u8 bytes, const Access& access) {
  Word& shadow = words_[word];
  if ((shadow.initialised & bytes) != bytes) report_uninitialised(owner, word, access);
  if ((shadow.written & bytes) == 0)
    return remember_reader(shadow, bytes, access);  // the last writer wrote other bytes
  if (!ordered(shadow.writer, access, access.clocks->seen)) report_race(owner, word, shadow.writer, true, access);
  const bool async = (access.stamp.flags & Access::kAsync) != 0;
  if (async && shadow.writer && (shadow.writer.flags & Access::kAsync) == 0 &&
      !access.clocks->visible.covers(shadow.writer)) {
    report_proxy(owner, word, shadow.writer, access);
  }
  remember_reader(shadow, bytes, access);
}

// One stamp an actor, the latest. Where there is no room, a reader that this access is ordered after may go: whoever
// is ordered after this access is ordered after that one.
void SharedShadow::remember_reader(Word& word, u8 bytes, const Access& access) {
  Stamp* free = nullptr;
  for (Stamp& reader : word.readers) {
    if (reader.actor == access.stamp.actor) {
      const bool same = reader.time == access.stamp.time && reader.lane != access.stamp.lane;
      reader = access.stamp;
      // Lanes that read different bytes of a word may each overwrite their own.
      if (same) reader.lane = bytes == kWholeWord ? kManyLanes : kSplitLanes;
      return;
    }
    if (free == nullptr && (!reader || access.clocks->performed.covers(reader))) free = &reader;
  }
  *(free != nullptr ? free : &word.readers.back()) = access.stamp;
}

void SharedShadow::write(const Block& owner, u32 word, u8 bytes, const Access& access) {
  Word& shadow = words_[word];
  const bool after = ordered(shadow.writer, access, access.clocks->seen);
  if (!after && (shadow.written & bytes) != 0) report_race(owner, word, shadow.writer, true, access);
  for (Stamp& reader : shadow.readers) {
    if (!ordered(reader, access, access.clocks->performed)) report_race(owner, word, reader, false, access);
    reader = Stamp{};
  }
  shadow.writer = access.stamp;
  shadow.written = static_cast<u8>(after ? bytes : shadow.written | bytes);
  shadow.initialised = static_cast<u8>(shadow.initialised | bytes);
}

}  // namespace tma_jit::emulator::check
