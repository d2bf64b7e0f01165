// Cache folders and packs as things of their own, for tools: count, list, verify, trim, clear, pack and unpack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit {

struct CacheEntryInfo {
  std::string key{};  // hex
  std::string kernel{}, arch{};
  std::uint64_t bytes = 0;  // of the file
  std::int64_t used_s = 0;  // Unix time it was last used, to five minutes; in a pack 0
  std::string metadata{};   // one JSON object a line; empty for a faulty entry
  std::string fault{};      // "reason: detail"; empty: sound
};

struct CacheSummary {
  std::filesystem::path root{};
  std::uint64_t entries = 0, bytes = 0;
  std::uint64_t faulty = 0;           // of these, what type, owner, mode or size already give away
  std::uint64_t temporary_files = 0;  // being written, or left by a process that died while writing
};

// $TMA_JIT_CACHE_DIR, else $XDG_CACHE_HOME/tma-jit, else ~/.cache/tma-jit. Empty where there is none, and in a
// set-user-id process, whose environment another user may have set. For root no folder in another user's home.
TMA_JIT_API std::filesystem::path default_cache_dir();
// Looks at every entry without reading it. A folder that is not there yet is an empty cache.
[[nodiscard]] TMA_JIT_API Result<CacheSummary> cache_stat(const std::filesystem::path& root);
// Reads every entry of a folder or a pack whole, in the order of keys; faulty ones are listed, none is removed. With
// `pack_keys`, a pack must be signed by one of these public keys.
[[nodiscard]] TMA_JIT_API Result<std::vector<CacheEntryInfo>> cache_verify(
    const std::filesystem::path& folder_or_pack, const std::vector<std::filesystem::path>& pack_keys = {});
// Removes entries, temporary files and what is kept about crashes of the compiler, and returns how many files; and the
// index of the entries. Nothing else. Safe beside running processes.
[[nodiscard]] TMA_JIT_API Result<std::uint64_t> cache_clear(const std::filesystem::path& root);

struct CacheTrimmed {
  std::uint64_t entries = 0, bytes = 0;  // before
  std::uint64_t removed = 0, removed_bytes = 0;
  std::uint64_t temporary_files = 0;  // removed: their writers died
};
// Removes the entries used longest ago until no more than this is left. Safe beside running processes.
[[nodiscard]] TMA_JIT_API Result<CacheTrimmed> cache_trim(const std::filesystem::path& root, std::uint64_t bytes,
                                                          std::uint64_t entries = 50'000);

struct CacheEntry {
  CacheEntryInfo info{};
  std::vector<std::byte> cubin{};
};
// The one entry of a folder or a pack whose key starts so; invalid_argument where there are several.
[[nodiscard]] TMA_JIT_API Result<CacheEntry> cache_read(const std::filesystem::path& folder_or_pack,
                                                        std::string_view key_prefix);

struct PackInfo {
  std::uint64_t entries = 0, bytes = 0;
  std::uint64_t skipped = 0;  // faulty entries left out
  std::string signer{};       // id of the key, hex; empty: not signed
};
// All sound entries of a folder as one file. `private_key` empty: not signed.
[[nodiscard]] TMA_JIT_API Result<PackInfo> cache_pack(const std::filesystem::path& root,
                                                      const std::filesystem::path& file,
                                                      const std::filesystem::path& private_key = {});
// Puts the entries of a pack into a folder, which is made where it is missing; with `shared` for everyone to read.
[[nodiscard]] TMA_JIT_API Result<PackInfo> cache_unpack(const std::filesystem::path& file,
                                                        const std::filesystem::path& root,
                                                        const std::vector<std::filesystem::path>& pack_keys = {},
                                                        bool shared = false);
// Makes an Ed25519 key pair in two new PEM files; returns the key's id.
[[nodiscard]] TMA_JIT_API Result<std::string> cache_keygen(const std::filesystem::path& private_key,
                                                           const std::filesystem::path& public_key);

}  // namespace tma_jit
