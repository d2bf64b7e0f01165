// What is known of every word of a block's shared memory: who wrote it last, who has read it since, and which bytes
// were ever written. Finds races, missing proxy fences and reads of uninitialised memory at the second access.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "emulator/check/clock.h"
#include "emulator/word.h"

namespace tma_jit::emulator {
class Block;
}

namespace tma_jit::emulator::check {

struct Access {
  enum Flags : u8 {
    kAsync = 1,   // through the asynchronous proxy
    kStrong = 2,  // atomic, or ordered by its own scope and semantics: races with weak accesses only
  };
  bool write = false;
  Stamp stamp;
  const Clocks* clocks = nullptr;  // what the access is ordered after
  std::string_view what;           // "ld.shared", "a tensor copy"
};

class SharedShadow {
 public:
  void resize(std::size_t bytes);
  bool empty() const { return chunks_.empty(); }

  // Throws Fault{race, proxy, uninitialised}. `owner` is the block whose memory it is.
  void record(const Block& owner, u32 offset, u32 bytes, const Access& access);
  // Memory whose content is not data: a fresh mbarrier.
  void forget(u32 offset, u32 bytes);

 private:
  static constexpr u32 kChunk = 16;
  static constexpr u32 kWords = kChunk / 4;
  static constexpr std::size_t kReaders = 3;
  struct Word {
    Stamp writer;
    std::array<Stamp, kReaders> readers{};
    u32 initialised = 0;  // a bit a byte
    u32 written = 0;      // the bytes that `writer` wrote
  };
  using Words = std::array<Word, kWords>;
  // Engines and vectors of registers move 16 bytes at a time and tiles whole, so that most chunks have four words in
  // one state, and share it with many others: a chunk is an index into `states_`, or with kSplit into `split_`.
  using Chunk = u32;
  static constexpr Chunk kSplit = Chunk{1} << 31;
  struct State {
    Word word;
    u32 uses = 0;  // chunks in it
  };
  // What an access last turned one state into. An engine's operation makes many accesses with the same stamp.
  struct Memory {
    Stamp stamp;
    bool write = false;
    bool valid = false;
    Chunk before = 0, after = 0;
  };

  static bool same(const Word& a, const Word& b);
  void record_whole(const Block& owner, u32 index, const Access& access);
  void record_part(const Block& owner, u32 offset, u32 end, const Access& access);
  Words& split(Chunk& chunk);
  void unite(Chunk& chunk);
  Chunk enter(const Word& word);
  void leave(Chunk state);
  // `address` is the word's, for reports; `bytes` has a bit a byte of it.
  static void apply(const Block& owner, Word& word, u32 address, u32 bytes, const Access& access);
  static void read(const Block& owner, Word& word, u32 address, u32 bytes, const Access& access);
  static void write(const Block& owner, Word& word, u32 address, u32 bytes, const Access& access);
  static void remember_reader(Word& word, u32 bytes, const Access& access);

  std::vector<Chunk> chunks_;
  std::vector<State> states_;
  std::vector<Chunk> unused_states_;
  std::vector<Words> split_;
  std::vector<u32> unused_split_;
  Memory memory_;
};

}  // namespace tma_jit::emulator::check
