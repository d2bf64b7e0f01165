// The byte format of a pack's header and index, specified in cache/README.md. Only this file and pack_index.cpp know
// it. Accesses no file.
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

// One entry; `digest` is the entry's last 32 bytes, which cover the rest of it.
struct PackRecord {
  std::array<std::uint8_t, 32> key{};
  Digest digest{};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(PackRecord) == 80);

struct PackIndex {
  std::vector<std::string> compilers;
  std::vector<PackRecord> records;  // ascending by key; entries lie in the file in the same order without gaps
  bool has_signature = false;
  Signed signature;
  std::vector<std::uint8_t> message;  // what is signed
};

// Parses the file's first bytes. The caller must not read more before this has validated the sizes.
[[nodiscard]] tl::expected<PackHeader, std::string> read_pack_header(std::span<const std::byte> bytes,
                                                                     std::uint64_t file_bytes);
// Parses the bytes after the entries. The digest at the end covers every byte of header and index.
[[nodiscard]] tl::expected<PackIndex, std::string> read_pack_index(std::span<const std::byte> header,
                                                                   std::span<const std::byte> index);

// Returns the record of a key, or nullptr if there is none.
const PackRecord* find_record(const PackIndex& index, const Key& key);

// Returns header and index for these records; `sign_message` is called once with the message to sign.
struct PackFrame {
  std::vector<std::byte> header, index;  // the index lacks its tail
  std::vector<std::uint8_t> message;
};
PackFrame pack_frame(std::span<const std::string> compilers, std::span<const PackRecord> records);
std::vector<std::byte> pack_tail(const PackFrame& frame, const Signed& signature);

}  // namespace tma_jit::cache
