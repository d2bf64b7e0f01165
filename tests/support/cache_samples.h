// Keys and entries for the cache's tests: different for different numbers, the same for the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "base/digest.h"
#include "cache/entry.h"

namespace tma_jit::cache {

inline Key sample_key(unsigned number) {
  return Key{sha256(&number, sizeof number)};
}

inline Entry sample_entry(unsigned number, std::size_t bytes = 600) {
  Entry entry;
  entry.cubin.resize(bytes);
  for (std::size_t i = 0; i < bytes; ++i) entry.cubin[i] = static_cast<std::byte>((i * 31 + i / 256 + number) & 255);
  entry.metadata = fmt::format(R"({{"arch":"sm_90a","kernel":"sample{}"}})", number);
  return entry;
}

// The same with a cubin that does not compress.
inline Entry noise_entry(unsigned number, std::size_t bytes) {
  Entry entry = sample_entry(number, bytes);
  std::uint64_t state = number + 1;
  for (std::byte& byte : entry.cubin) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56);
  }
  return entry;
}

inline bool same(const Entry& a, const Entry& b) {
  return a.cubin == b.cubin && a.metadata == b.metadata;
}

}  // namespace tma_jit::cache
