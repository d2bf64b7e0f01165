// An entry as a remote cache keeps it: the bytes that a folder has, and behind them, if it is signed, 104 bytes: a
// magic number, the id of the key and the signature. The signature covers the digest of the entry, which holds its key.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

#include "cache/entry.h"
#include "cache/pack_policy.h"

namespace tma_jit::cache {

inline constexpr std::size_t kRemoteTrailerBytes = 8 + 32 + 64;
inline constexpr std::size_t kRemoteBytesMax = kEntryBytesMax + kRemoteTrailerBytes;

// Returns the bytes to upload; unsigned if `private_key` is empty.
[[nodiscard]] Result<std::vector<std::byte>> to_remote(std::span<const std::byte> encoded,
                                                       const std::filesystem::path& private_key);

struct RemoteEntry {
  Entry entry;
  std::span<const std::byte> encoded;  // the part of the given bytes that a folder keeps
};

// Accepts what `to_remote` returned for an entry of this key, signed by one of the policy's keys if it demands that.
// The signature is verified before anything is decompressed.
[[nodiscard]] tl::expected<RemoteEntry, Fault> from_remote(std::span<const std::byte> bytes, const Key& key,
                                                           const PackPolicy& policy);

}  // namespace tma_jit::cache
