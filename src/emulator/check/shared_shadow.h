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
  void resize(std::size_t bytes) { words_.resize((bytes + 3) / 4); }
  bool empty() const { return words_.empty(); }

  // Throws Fault{race, proxy, uninitialised}. `owner` is the block whose memory it is.
  void record(const Block& owner, u32 offset, u32 bytes, const Access& access);
  // Memory whose content is not data: a fresh mbarrier.
  void forget(u32 offset, u32 bytes);

 private:
  static constexpr std::size_t kReaders = 3;
  struct Word {
    Stamp writer;
    std::array<Stamp, kReaders> readers{};
    u8 initialised = 0;  // a bit a byte
    u8 written = 0;      // the bytes that `writer` wrote
  };

  void read(const Block& owner, u32 word, u8 bytes, const Access& access);
  void write(const Block& owner, u32 word, u8 bytes, const Access& access);
  static void remember_reader(Word& word, u8 bytes, const Access& access);

  std::vector<Word> words_;
};

}  // namespace tma_jit::emulator::check
