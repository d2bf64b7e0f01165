// Shadow memory: for every byte, its last writer, its readers since then, and whether it has ever been written. Detects
// races, missing proxy fences and reads of uninitialised memory at the second access.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/byte_range.h"
#include "emulator/check/access.h"

namespace tma_jit::emulator::check {

// The rules and the states of bytes. Derived classes own the cells and name addresses in reports.
class Shadow {
 public:
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

 private:
  struct TransitionCache;

 protected:
  // The state of a range of bytes, as an index into `states_`; with kSplit, an index to the cells of its parts. A range
  // of 64 or 16 bytes is split into words and a word into bytes. Most accesses cover whole rows, so that most cells are
  // not split and share their states.
  using Cell = u32;
  static constexpr Cell kSplit = Cell{1} << 31;
  static constexpr u32 kRow = 64, kChunk = 16, kWord = 4;
  struct Range {
    u32 begin, end;
    // Returns the part of the range within the `size` bytes from `first` on, relative to `first`.
    Range within(u32 first, u32 size) const { return {std::max(begin, first) - first, std::min(end - first, size)}; }
    bool covers(u32 size) const { return end - begin == size; }
  };

  struct Rules {
    Clock Clocks::*visible;  // the clock that permits reads by the asynchronous proxy
    bool initialised;        // whether fresh memory counts as initialised
    bool in_order;           // whether the operations of one channel execute one after the other
    std::string_view fence;  // the name of the proxy fence for this memory
  };
  explicit Shadow(const Rules& rules);
  virtual ~Shadow() = default;

  // Records an access to a range of `cells`. Each cell covers `size` bytes, kRow or kChunk; the first begins at
  // `address`. Throws Fault{race, proxy, uninitialised}.
  void record(Cell* cells, u32 size, Range range, u64 address, const Access& access) {
    record(recording_of(access), cells, size, range, address);
  }
  void forget(Cell* cells, u32 size, Range range);
  // Calls f(address, bytes, the write, or a read if there is none, whether all are strong) for each part of a cell of
  // `size` bytes at `address` that has been accessed, in ascending order.
  using Visitor = std::function<void(u64 address, u32 bytes, const Stamp& stamp, bool written, bool strong)>;
  void visit(Cell cell, u32 size, u64 address, const Visitor& f) const;
  // The same for many ranges of one access.
  struct Recording {
    const Access& access;
    TransitionCache* cache;  // null for accesses by a single lane, which are few and small
  };
  Recording recording_of(const Access& access) {
    return {access, access.stamp.lane == kManyLanes ? &transition_cache_of(access) : nullptr};
  }
  void record(const Recording& recording, Cell* cells, u32 size, Range range, u64 address);

  // Return the texts of reports, e.g. "shared memory at 0x500 of block (0, 0, 0)" and "  read by warp 3 at FILE:LINE:
  // ...".
  virtual std::string location(u64 address) const = 0;
  virtual std::string side(const Stamp& stamp, std::string_view what) const = 0;

 private:
  static constexpr Cell kFresh = 0;  // the state of untouched memory; never freed, and its uses are not counted
  static constexpr std::size_t kReaders = 3;
  struct Bytes {
    Stamp writer;
    std::array<Stamp, kReaders> readers{};
    u64 initialised = 0;
  };
  // The parts of split cells. Unused entries are reused.
  template <std::size_t N> struct Parts {
    std::deque<std::array<Cell, N>> all;
    std::vector<u32> unused;
    u32 take();
  };
  struct State {
    Bytes bytes;
    u32 uses = 0;  // the number of cells and cached transitions that refer to it
  };
  // A change of state caused by the accesses with one stamp, cached because one operation causes many equal changes.
  // The state after a write does not depend on the state before it.
  struct Transition {
    Cell before = 0, after = 0;
  };
  struct TransitionCache {
    Stamp stamp;
    bool write = false;
    u32 count = 0;  // transitions so far; the last of them are cached
    std::array<Transition, 8> transitions{};
    std::span<const Transition> entries() const {
      return {transitions.data(), std::min<std::size_t>(count, transitions.size())};
    }
  };
  static constexpr std::size_t kTransitionCaches = 8;  // a power of two

  // Calls f(cell, the part of the range within it, its offset) for each cell that the range touches.
  template <class F> static void for_each_cell(Cell* cells, u32 size, Range range, const F& f) {
    for (u32 i = range.begin / size; i * size < range.end; ++i) f(cells[i], range.within(i * size, size), i * size);
  }
  static bool same(const Bytes& a, const Bytes& b);
  void record_whole(const Recording& recording, Cell& cell, u64 address);
  void record_parts(const Recording& recording, Cell& cell, u32 size, Range range, u64 address);
  static u32 part_of(u32 size) { return size == kWord ? 1 : kWord; }
  std::span<Cell> parts_of(Cell cell, u32 size);
  std::span<Cell> split(Cell& cell, u32 size);
  void merge(Cell& cell, u32 size, bool thoroughly);
  Cell add_state(const Bytes& bytes);  // returns a state with one use
  void release_state(Cell state) {
    if (state != kFresh && --states_[state].uses == 0) unused_states_.push_back(state);
  }
  TransitionCache& transition_cache_of(const Access& access);
  // Applies a cached transition to the cell. Returns false if there is none.
  bool repeat(const TransitionCache& cache, Cell& cell) {
    for (const Transition& change : cache.entries()) {
      if (change.after == cell) return true;
      if (change.before != cell) continue;
      ++states_[change.after].uses;
      release_state(cell);
      cell = change.after;
      return true;
    }
    return false;
  }
  void remember(TransitionCache& cache, const Transition& change);
  void forget(const Transition& change);

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
  Parts<kWord> words_;  // also the parts of chunks
  std::array<TransitionCache, kTransitionCaches> transition_caches_;
};

}  // namespace tma_jit::emulator::check
