// One cache entry as bytes: the format of cache/README.md, read and written here and nowhere else. Touches no file.
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

// What is remembered under a key. `metadata` is a line of JSON that the writer reads back, and may be followed by a
// second line for tools; it may be empty. `cubin` is never empty.
struct Entry {
  std::vector<std::byte> cubin;
  std::string metadata;
};

enum class MissReason : std::uint8_t {
  none,       // a hit
  absent,     // no such entry
  io,         // it is there and cannot be read
  untrusted,  // not a plain file of this user that others cannot write
  format,     // not an entry, or one of a format this version does not read
  corrupt,    // an entry whose bytes are not those that were written
  wrong_key,  // a sound entry of another key
};
inline constexpr std::size_t kMissReasons = 7;
std::string_view name_of(MissReason reason);

// Why bytes are not the entry asked for.
struct Fault {
  MissReason reason = MissReason::corrupt;
  std::string detail;  // one line, with the values
};

inline constexpr std::uint16_t kEntryFormat = 1;  // of entries with another nothing is read
inline constexpr std::size_t kEntryHeaderBytes = 128;
inline constexpr std::size_t kEntryTrailerBytes = 32;
inline constexpr std::size_t kEntryBytesMax = std::size_t{64} << 20;

// Fails when the cubin is empty or the entry would be larger than kEntryBytesMax.
[[nodiscard]] Result<std::vector<std::byte>> encode(const Key& key, const Entry& entry);

// How much is checked. A hit trusts the trailing digest, which covers every byte, and zstd's own check of what it
// decompressed; tools also hash the payload once more.
enum class Depth : std::uint8_t { hit, all };

// Accepts exactly what `encode` made for this key: every length is checked before any byte is hashed, and every byte
// is covered by the trailing digest.
[[nodiscard]] tl::expected<Entry, Fault> decode(std::span<const std::byte> bytes, const Key& key,
                                                Depth depth = Depth::all);

// An entry's metadata, of which only the first bytes are there and nothing is verified; nullopt where it is not all in
// them.
std::optional<std::string> metadata_in(std::span<const std::byte> head);
inline constexpr std::size_t kMetadataHeadBytes = std::size_t{64} << 10;

// The key an encoded entry says it has; nullopt where there is no header to ask.
std::optional<Key> key_in(std::span<const std::byte> bytes);

}  // namespace tma_jit::cache
