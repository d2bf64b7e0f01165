// A pack's header and index as bytes: the format of cache/README.md, read and written here and nowhere else. Touches no
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>
#include <tl/expected.hpp>

#include "base/digest.h"
#include "cache/signature.h"

namespace tma_jit::cache {

inline constexpr std::size_t kPackHeaderBytes = 64;
inline constexpr std::size_t kPackTailBytes = 128;
inline constexpr std::uint64_t kPackIndexBytesMax = std::uint64_t{128} << 20;

struct PackHeader {
  std::uint64_t file_bytes = 0;
  std::uint64_t entries_bytes = 0;  // the index begins after them
  std::uint64_t index_bytes = 0;    // compilers, records and tail
};

// One entry: `digest` is the last 32 bytes of it, which cover the rest.
struct PackRecord {
  std::array<std::uint8_t, 32> key{};
  Digest digest{};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(PackRecord) == 80);

struct PackIndex {
  std::vector<std::string> compilers;
  std::vector<PackRecord> records;  // by key, ascending; they lie in the file in the same order, without gaps
  bool has_signature = false;
  Signed signature;
  std::vector<std::uint8_t> message;  // what is signed
};

// Of the file's first bytes. Nothing else is to be read before its sizes are known to be possible.
[[nodiscard]] tl::expected<PackHeader, std::string> read_pack_header(std::span<const std::byte> bytes,
                                                                     std::uint64_t file_bytes);
// Of the bytes after the entries. Every byte of header and index is covered by the digest at the end.
[[nodiscard]] tl::expected<PackIndex, std::string> read_pack_index(std::span<const std::byte> header,
                                                                   std::span<const std::byte> index);

// The record of a key; nullptr where there is none.
const PackRecord* find_record(const PackIndex& index, const Key& key);

// Header and index for these records; `sign_message` is called once with what is to be signed.
struct PackFrame {
  std::vector<std::byte> header, index;  // index still without its tail
  std::vector<std::uint8_t> message;
};
PackFrame pack_frame(std::span<const std::string> compilers, std::span<const PackRecord> records);
std::vector<std::byte> pack_tail(const PackFrame& frame, const Signed& signature);

}  // namespace tma_jit::cache
