// The cache folder's files: what may be trusted, how one is read whole and how one is put in place. Knows names and
// modes, not what the bytes mean.
#pragma once

#include <cstddef>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry.h"

namespace tma_jit::cache {

inline constexpr std::string_view kTemporaryPrefix = ".tmp-";

// <root>/v1, which holds the shards "00" to "ff" and "compilers".
std::filesystem::path format_folder(const std::filesystem::path& root);
std::filesystem::path compilers_folder(const std::filesystem::path& root);
std::filesystem::path shard_folder(const std::filesystem::path& root, unsigned shard);
std::filesystem::path entry_path(const std::filesystem::path& root, const Key& key);
// The key an entry of this name in this shard has; nullopt for any other file.
std::optional<Key> key_named(unsigned shard, std::string_view file_name);

// Fails unless `root` is a folder, not a link, of this user (or, for reading, of root) that others cannot write to.
Result<void> check_trusted(const std::filesystem::path& root);
// Makes what is missing of root, v1, the shards and the tag that backup programs look for; all 0700. True when the
// folder can be written to.
Result<bool> prepare_folder(const std::filesystem::path& root);

struct File {
  std::vector<std::byte> bytes;
  std::time_t modified = 0;
};
// Opens without following a link or waiting on a pipe, and reads only a plain file that others cannot write to.
tl::expected<File, Fault> read_trusted(const std::filesystem::path& path, std::size_t limit);

// Creates a temporary file beside `path`, writes, flushes, renames. Leaves nothing behind when it fails.
Result<void> publish(const std::filesystem::path& path, std::span<const std::byte> bytes);

// Marks a file as used now, if that was not done within the last hour. Best effort.
void touch(const std::filesystem::path& path, std::time_t modified);

// The names in a folder, in no order; none when it is missing.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace tma_jit::cache
