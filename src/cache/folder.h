// The names of files in a cache folder and their meaning. Accesses no file, except in `names_in`.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>

#include "cache/file_system.h"

namespace tma_jit::cache {

inline constexpr const char* kFormatName = "v1";
inline constexpr unsigned kShards = 256;
inline constexpr std::string_view kCompilersName = "compilers";
inline constexpr std::string_view kLockName = "lock";
inline constexpr const char* kIndexName = "index";
inline constexpr const char* kBackupTagName = "CACHEDIR.TAG";  // in the root, beside the format's folder

// Returns <root>/v1, which holds the shards "00" to "ff", "compilers", "index" and "lock".
std::filesystem::path format_folder(const std::filesystem::path& root);
std::filesystem::path compilers_folder(const std::filesystem::path& root);
std::filesystem::path entry_path(const std::filesystem::path& root, const Key& key);

// Return "ab" and "ab/<62 hex>", relative to the format's folder.
std::string shard_name(unsigned shard);
std::array<char, 66> entry_name(const Key& key);
// Returns the key of an entry with this name in this shard; nullopt for any other file, and in any other folder.
std::optional<Key> key_named(std::string_view folder, std::string_view file_name);
// Parses 64 hex digits of either case.
std::optional<Key> key_of_hex(std::string_view text);

// Returns ".tmp-<host8>-<pid>-<32 hex>": unique, and it identifies the process that left the file.
std::string temporary_name();
// Returns false for a file of another program that has the same prefix.
bool is_temporary(std::string_view file_name);
// Returns the process that made a temporary file, if it ran on this host.
std::optional<int> local_writer(std::string_view temporary);

// Returns the names in the folder `path` below an open one, unordered; none if it is missing or only a link.
std::vector<std::string> names_in(const FileSystem& files, int folder, const char* path);

}  // namespace tma_jit::cache
