// The byte format of a cache entry, specified in cache/README.md. Only this file and entry.cpp know it. Accesses no
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

namespace tma_jit::cache {

// The contents of an entry. `metadata` is a line of JSON that the writer of the entry reads back, optionally followed
// by a second line for tools; it may be empty. `cubin` is never empty.
struct Entry {
  std::vector<std::byte> cubin;
  std::string metadata;
};

enum class MissReason : std::uint8_t {
  none,       // a hit
  absent,     // no such entry
  io,         // it exists but cannot be read
  untrusted,  // not a regular file of this user that others cannot write
  format,     // not an entry, or of a format that this version does not read
  corrupt,    // an entry whose bytes have changed since it was written
  wrong_key,  // a sound entry for another key
};
inline constexpr std::size_t kMissReasons = 7;
std::string_view name_of(MissReason reason);

// The reason why bytes are not the requested entry.
struct Fault {
  MissReason reason = MissReason::corrupt;
  std::string detail;  // one line, with the values
};

inline constexpr std::uint16_t kEntryFormat = 1;  // entries of another format are not read
inline constexpr std::size_t kEntryHeaderBytes = 128;
inline constexpr std::size_t kEntryTrailerBytes = 32;
inline constexpr std::size_t kEntryBytesMax = std::size_t{64} << 20;

// Returns the bytes of an entry. Fails if the cubin is empty or the entry would be larger than kEntryBytesMax.
[[nodiscard]] Result<std::vector<std::byte>> encode(const Key& key, const Entry& entry);

// How thoroughly an entry is checked. A hit relies on the trailing digest, which covers every byte, and on zstd's
// checksum of the decompressed data; `all`, for tools, also hashes the payload.
enum class Depth : std::uint8_t { hit, all };

// Accepts exactly what `encode` returns for this key: every length is checked before any byte is hashed, and the
// trailing digest covers every byte.
[[nodiscard]] tl::expected<Entry, Fault> decode(std::span<const std::byte> bytes, const Key& key,
                                                Depth depth = Depth::all);

// Returns the metadata from the first bytes of an entry, unverified; nullopt if these bytes do not contain all of it.
std::optional<std::string> metadata_in(std::span<const std::byte> head);
inline constexpr std::size_t kMetadataHeadBytes = std::size_t{64} << 10;

// Returns the key that an encoded entry claims to have; nullopt if there is no header.
std::optional<Key> key_in(std::span<const std::byte> bytes);

}  // namespace tma_jit::cache
