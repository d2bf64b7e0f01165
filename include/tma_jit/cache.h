// Operations on cache folders and packs without an engine: count, list, verify, trim, clear, pack and unpack.
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
  std::uint64_t bytes = 0;  // size of the file
  std::int64_t used_s = 0;  // Unix time of the last use, accurate to five minutes; 0 in a pack
  std::string metadata{};   // one JSON object per line; empty for a faulty entry
  std::string fault{};      // "reason: detail"; empty if the entry is sound
};

struct CacheSummary {
  std::filesystem::path root{};
  std::uint64_t entries = 0, bytes = 0;
  std::uint64_t faulty = 0;           // entries whose type, owner, mode or size alone shows a fault
  std::uint64_t temporary_files = 0;  // being written, or left by a process that died while writing
};

// Returns $TMA_JIT_CACHE_DIR, else $XDG_CACHE_HOME/tma-jit, else ~/.cache/tma-jit; without HOME, of the home in the
// system's list of users. Returns an empty path if none is known, and in a set-user-id process, because another user
// may have set its environment. Root never gets a folder in another user's home.
TMA_JIT_API std::filesystem::path default_cache_dir();
// Checks every entry without reading its contents. A missing folder counts as an empty cache.
[[nodiscard]] TMA_JIT_API Result<CacheSummary> cache_stat(const std::filesystem::path& root);
// Reads every entry of a folder or a pack completely, in key order. Faulty entries are listed, never removed. If
// `pack_keys` is given, a pack must be signed by one of these public keys.
[[nodiscard]] TMA_JIT_API Result<std::vector<CacheEntryInfo>> cache_verify(
    const std::filesystem::path& folder_or_pack, const std::vector<std::filesystem::path>& pack_keys = {});
// Removes the entries, their index, temporary files and the records of compiler crashes, and nothing else. Returns the
// number of files removed, without the index. Safe while other processes use the folder.
[[nodiscard]] TMA_JIT_API Result<std::uint64_t> cache_clear(const std::filesystem::path& root);

struct CacheTrimmed {
  std::uint64_t entries = 0, bytes = 0;  // before the trim
  std::uint64_t removed = 0, removed_bytes = 0;
  std::uint64_t temporary_files = 0;  // removed because their writers died
};
// Removes the least recently used entries until at most `bytes` and `entries` are left. Safe while other processes use
// the folder. Fails (io) if more are left because some cannot be removed.
[[nodiscard]] TMA_JIT_API Result<CacheTrimmed> cache_trim(const std::filesystem::path& root, std::uint64_t bytes,
                                                          std::uint64_t entries = 50'000);

struct CacheEntry {
  CacheEntryInfo info{};
  std::vector<std::byte> cubin{};
};
// Returns the entry of a folder or a pack whose key starts with `key_prefix`; fails (invalid_argument) if there are
// several.
[[nodiscard]] TMA_JIT_API Result<CacheEntry> cache_read(const std::filesystem::path& folder_or_pack,
                                                        std::string_view key_prefix);

struct PackInfo {
  std::uint64_t entries = 0, bytes = 0;
  std::uint64_t skipped = 0;  // faulty entries that were left out
  std::string signer{};       // id of the signing key, hex; empty if not signed
};
// Writes all sound entries of a folder into one file. If `private_key` is empty, the file is not signed.
[[nodiscard]] TMA_JIT_API Result<PackInfo> cache_pack(const std::filesystem::path& root,
                                                      const std::filesystem::path& file,
                                                      const std::filesystem::path& private_key = {});
// Writes such a file as an OCI image layout into a new or empty folder: an artifact tagged `latest`, of the type
// application/vnd.tma-jit.pack.v1, whose one layer is the pack, titled kernels.tmjpack. Any OCI client can push it.
[[nodiscard]] TMA_JIT_API Result<PackInfo> cache_pack_oci(const std::filesystem::path& root,
                                                          const std::filesystem::path& layout,
                                                          const std::filesystem::path& private_key = {});
// Copies the entries of a pack into a folder and creates the folder if it is missing. With `shared`, every user may
// read it.
[[nodiscard]] TMA_JIT_API Result<PackInfo> cache_unpack(const std::filesystem::path& file,
                                                        const std::filesystem::path& root,
                                                        const std::vector<std::filesystem::path>& pack_keys = {},
                                                        bool shared = false);
// Writes an Ed25519 key pair to two new PEM files and returns the key's id.
[[nodiscard]] TMA_JIT_API Result<std::string> cache_keygen(const std::filesystem::path& private_key,
                                                           const std::filesystem::path& public_key);

}  // namespace tma_jit
