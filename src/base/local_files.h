// Which files no other machine can change or withhold.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace tma_jit {

// Whether a file system with this `f_type` of statfs is of this machine alone. Every unknown one may be a network's.
bool is_local_file_system(std::uint32_t magic);

// Returns whether every folder and link on the way to `path` lies on such a file system by the mount table, so that no
// access to it waits for another machine. Touches nothing that lies elsewhere. A path that does not exist is judged by
// its folders; a relative one from the current folder. Returns false if the mount table cannot be read.
bool is_local_path(const std::filesystem::path& path);

// The same for a mount table's text, in the format of /proc/self/mountinfo.
bool is_local_path(const std::filesystem::path& path, std::string_view mounts);

}  // namespace tma_jit
