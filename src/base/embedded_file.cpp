#include "base/embedded_file.h"

#include <memory>
#include <new>

#include <zstd.h>

namespace tma_jit {

std::string_view EmbeddedPack::text() const {
  const char* known = text_.load(std::memory_order_acquire);
  if (known != nullptr) return {known, bytes_};
  auto made = std::make_unique_for_overwrite<char[]>(bytes_);
  // The frame is a part of this library, so that only a lack of memory makes it fail.
  if (ZSTD_decompress(made.get(), bytes_, frame_.data(), frame_.size()) != bytes_) throw std::bad_alloc();
  // Threads that meet here each make the text; one of the texts is kept.
  if (text_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) known = made.release();
  return {known, bytes_};
}

std::vector<EmbeddedFile> EmbeddedArchive::files() const {
  std::vector<EmbeddedFile> files;
  files.reserve(entries.size());
  for (const Entry& entry : entries) {
    files.push_back({names + entry.name, nullptr, entry.size, &packs[entry.pack], entry.begin,
                     entry.subject != 0 ? names + entry.subject : nullptr});
  }
  return files;
}

}  // namespace tma_jit
