// What is known of every byte of some memory: who wrote it last, who has read it since, and whether anything ever wrote
// it. Finds races, missing proxy fences and reads of uninitialised memory at the second access.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/check/access.h"
#include "emulator/numeric/registers.h"

namespace tma_jit::emulator::check {

// The rules, and the states of bytes, for memories that name their places and keep the cells of them.
class Shadow {
 public:
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

 private:
  struct Memory;

 protected:
  // Bytes in one state, an index into `states_`; or with kSplit an index to the cells of its parts. Of 64 bytes the
  // parts are the words, of 16 too, of a word the bytes. Engines and warps move whole rows, so that most cells are
  // whole and share their state with many others.
  using Cell = u32;
  static constexpr Cell kSplit = Cell{1} << 31;
  static constexpr u32 kRow = 64, kChunk = 16, kWord = 4;
  struct Range {
    u32 begin, end;
    // What of it lies in the `size` bytes from `first` on, counted from there.
    Range within(u32 first, u32 size) const { return {std::max(begin, first) - first, std::min(end - first, size)}; }
    bool covers(u32 size) const { return end - begin == size; }
  };

  struct Rules {
    Clock Clocks::*visible;  // what lets the asynchronous proxy read
    bool initialised;        // fresh memory is
    bool in_order;           // operations of one channel are done one after the other
    std::string_view fence;  // the proxy fence for this memory
  };
  explicit Shadow(const Rules& rules);
  virtual ~Shadow() = default;

  // Of a range of bytes of `cells`, which have `size` bytes each, kRow or kChunk, and the first of which is at
  // `address`. Throws Fault{race, proxy, uninitialised}.
  void record(Cell* cells, u32 size, Range range, u64 address, const Access& access) {
    record(recording_of(access), cells, size, range, address);
  }
  void forget(Cell* cells, u32 size, Range range);
  // The same for many ranges of one access.
  struct Recording {
    const Access& access;
    Memory* memory;  // none for a lane's accesses, which are few and small
  };
  Recording recording_of(const Access& access) {
    return {access, access.stamp.lane == kManyLanes ? &memory_of(access) : nullptr};
  }
  void record(const Recording& recording, Cell* cells, u32 size, Range range, u64 address);

  // For reports: "shared memory at 0x500 of block (0, 0, 0)"; and "  read by warp 3 at FILE:LINE: ...".
  virtual std::string place(u64 address) const = 0;
  virtual std::string side(const Stamp& stamp, std::string_view what) const = 0;

 private:
  static constexpr Cell kFresh = 0;  // the state of memory that nothing has touched; it stays, and its uses say nothing
  static constexpr std::size_t kReaders = 3;
  struct Bytes {
    Stamp writer;
    std::array<Stamp, kReaders> readers{};
    u64 initialised = 0;
  };
  // The parts of cells that are split; references to them last.
  template <std::size_t N> struct Parts {
    std::deque<std::array<Cell, N>> all;
    std::vector<u32> unused;
    u32 take();
  };
  struct State {
    Bytes bytes;
    u32 uses = 0;  // cells in it, and memories
  };
  // What the accesses with one stamp turned states into: an operation makes many of them. What a write makes does not
  // depend on what was there before.
  struct Change {
    Cell before = 0, after = 0;
  };
  struct Memory {
    Stamp stamp;
    bool write = false;
    u32 known = 0;  // changes so far; the last of them are kept
    std::array<Change, 8> changes{};
    std::span<const Change> kept() const { return {changes.data(), std::min<std::size_t>(known, changes.size())}; }
  };
  static constexpr std::size_t kMemories = 8;  // a power of two

  // f(cell, what of it lies in the range, its offset) for each of the cells that the range touches.
  template <class F> static void for_each_cell(Cell* cells, u32 size, Range range, const F& f) {
    for (u32 i = range.begin / size; i * size < range.end; ++i) f(cells[i], range.within(i * size, size), i * size);
  }
  static bool same(const Bytes& a, const Bytes& b);
  void record_whole(const Recording& recording, Cell& cell, u64 address);
  void record_parts(const Recording& recording, Cell& cell, u32 size, Range range, u64 address);
  static u32 part_of(u32 size) { return size == kWord ? 1 : kWord; }
  std::span<Cell> parts_of(Cell cell, u32 size);
  std::span<Cell> split(Cell& cell, u32 size);
  void unite(Cell& cell, u32 size, bool thoroughly);
  Cell enter(const Bytes& bytes);  // with one use
  void leave(Cell state) {
    if (state != kFresh && --states_[state].uses == 0) unused_states_.push_back(state);
  }
  Memory& memory_of(const Access& access);
  // Where the operation has done the same to another cell.
  bool repeat(const Memory& memory, Cell& cell) {
    for (const Change& change : memory.kept()) {
      if (change.after == cell) return true;
      if (change.before != cell) continue;
      ++states_[change.after].uses;
      leave(cell);
      cell = change.after;
      return true;
    }
    return false;
  }
  void remember(Memory& memory, const Change& change);
  void forget(const Change& change);

  bool ordered(const Stamp& earlier, const Access& access, Clock Clocks::*kind) const;
  void apply(Bytes& bytes, u64 address, const Access& access) const;
  void read(Bytes& bytes, u64 address, const Access& access) const;
  void write(Bytes& bytes, u64 address, const Access& access) const;
  static void remember_reader(Bytes& bytes, const Access& access);
  [[noreturn]] void report_race(u64 address, const Stamp& earlier, bool earlier_wrote, const Access& access) const;
  [[noreturn]] void report_proxy(u64 address, const Stamp& writer, const Access& access) const;
  [[noreturn]] void report_uninitialised(u64 address, const Access& access) const;

  const Rules rules_;
  std::vector<State> states_;
  std::vector<Cell> unused_states_;
  Parts<kRow / kWord> rows_;
  Parts<kWord> words_;  // and chunks
  std::array<Memory, kMemories> memories_;
};

}  // namespace tma_jit::emulator::check
