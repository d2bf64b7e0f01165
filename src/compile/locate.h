// Finds libnvrtc without loading it. A warm process needs the compiler's identity for its keys and nothing more.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tma_jit/error.h>

#include "base/environment.h"

namespace tma_jit::compile {

// `identity` is the same wherever the same build of NVRTC is installed: the release in the builtins' file name, and the
// GNU build ids of libnvrtc and its builtins.
struct Location {
  std::filesystem::path path;
  std::string identity;
};

// Where to look.
struct Places {
  std::filesystem::path wanted;                       // the library or its folder; when set, nothing else is tried
  std::vector<std::filesystem::path> toolkits;        // CUDA_HOME, CUDA_PATH
  std::vector<std::filesystem::path> loader_folders;  // LD_LIBRARY_PATH, then the system's
  std::filesystem::path root = "/";                   // toolkits and site-packages are sought below it
  std::vector<std::filesystem::path> environments;    // Python's and conda's: VIRTUAL_ENV, CONDA_PREFIX, ~/.local
  bool loaded = true;                                 // take a libnvrtc this process has loaded already
  bool loader = true;                                 // ask the loader by soname when all else fails

  static Places usual(const ProcessEnvironment& environment, std::filesystem::path wanted = {});
};

// In order: `wanted`; the library already loaded; the toolkits; the loader's folders; /usr/local/cuda*, newest first;
// pip's and conda's packages; the loader. A release older than 12.8 is passed over, and one that is found by search
// where others than root and this user could have put it (base/trusted_path.h). The error (nvrtc) lists every path
// tried.
[[nodiscard]] Result<Location> locate(const Places& places);
[[nodiscard]] Result<Location> locate(const std::filesystem::path& wanted);

}  // namespace tma_jit::compile
