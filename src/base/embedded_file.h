// Files compiled into the library by tools/cmake/TmaJitEmbed.cmake.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tma_jit {

// Files that are compressed together, as one zstd frame. They are decompressed when the first of them is read. The
// text lives as long as the process, and no lock is taken, so that a forked child can read it.
class EmbeddedPack {
 public:
  // The frame must outlive the pack; `bytes` is the size of its content.
  constexpr EmbeddedPack(std::span<const unsigned char> frame, std::size_t bytes) : frame_(frame), bytes_(bytes) {}

  // Thread-safe.
  std::string_view text() const;

 private:
  std::span<const unsigned char> frame_;
  std::size_t bytes_;
  mutable std::atomic<const char*> text_ = nullptr;
};

// A file alone, or in a pack with others.
struct EmbeddedFile {
  const char* name;   // path below the embedded folder, e.g. "kernels/gemm_wgmma.cu"
  const char* plain;  // the text of a file alone; not necessarily terminated
  std::size_t size;
  const EmbeddedPack* pack = nullptr;  // the pack that has the file, or null
  std::size_t begin = 0;               // where the file begins in the pack's text
  const char* subject = nullptr;  // the kernel that a template declares, the device of records; null: the text says
                                  // it, if any

  std::string_view text() const {
    return pack != nullptr ? pack->text().substr(begin, size) : std::string_view(plain, size);
  }
};

// Packs and the files in them. The table has numbers instead of pointers, which the loader would have to relocate.
struct EmbeddedArchive {
  struct Entry {
    std::uint32_t name, subject;  // where they begin in `names`; a subject of 0 is none
    std::uint32_t size, begin;
    std::uint32_t pack;
  };
  const char* names;  // each with a terminator
  std::span<const Entry> entries;
  std::span<const EmbeddedPack> packs;

  std::vector<EmbeddedFile> files() const;
};

}  // namespace tma_jit
