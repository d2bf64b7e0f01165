// Names in a cache folder: what lies where, and what a name says. Touches no file, but for `names_in`.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>

namespace tma_jit::cache {

inline constexpr unsigned kShards = 256;
inline constexpr std::string_view kTemporaryPrefix = ".tmp-";
inline constexpr std::string_view kCompilersName = "compilers";
inline constexpr std::string_view kLockName = "lock";
inline constexpr const char* kIndexName = "index";

// <root>/v1, which holds the shards "00" to "ff", "compilers", "index" and "lock".
std::filesystem::path format_folder(const std::filesystem::path& root);
std::filesystem::path compilers_folder(const std::filesystem::path& root);
std::filesystem::path shard_folder(const std::filesystem::path& root, unsigned shard);
std::filesystem::path entry_path(const std::filesystem::path& root, const Key& key);

// "ab" and "ab/<62 hex>", as they are called below the format's folder.
std::string shard_name(unsigned shard);
std::array<char, 66> entry_name(const Key& key);
// The key an entry of this name in this shard has; nullopt for any other file.
std::optional<Key> key_named(unsigned shard, std::string_view file_name);
// 64 hex digits, either case of which is read.
std::optional<Key> key_of_hex(std::string_view text);

// ".tmp-<host8>-<pid>-<32 hex>": no two writers use one name, and the name says who left the file.
std::string temporary_name();
// The process that made a temporary file, where it ran on this host.
std::optional<int> local_writer(std::string_view temporary);

// The names in a folder, in no order; none when it is missing.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace tma_jit::cache
