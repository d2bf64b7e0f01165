// Finds libnvrtc without loading it: a warm process needs only the compiler's identity, for its keys.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tma_jit/error.h>

#include "base/environment.h"

namespace tma_jit::compile {

// `identity` is equal wherever the same build of NVRTC is installed: the release in the file name of the builtins, and
// the GNU build ids of libnvrtc and its builtins.
struct Location {
  std::filesystem::path path;
  std::string identity;
};

// The places to search.
struct Places {
  std::filesystem::path wanted;                       // the library or its folder; if set, nothing else is tried
  std::vector<std::filesystem::path> toolkits;        // CUDA_HOME, CUDA_PATH
  std::vector<std::filesystem::path> loader_folders;  // LD_LIBRARY_PATH, then the system's
  std::filesystem::path root = "/";                   // prefix of the searched toolkits and site-packages
  std::vector<std::filesystem::path> folders;         // named by the application: those of its Python's packages
  std::vector<std::filesystem::path> environments;    // Python's and conda's: VIRTUAL_ENV, CONDA_PREFIX, ~/.local
  bool loaded = true;                                 // use a libnvrtc that this process has loaded
  bool loader = true;                                 // finally, ask the loader by soname

  static Places usual(const ProcessEnvironment& environment, std::filesystem::path wanted = {},
                      std::vector<std::filesystem::path> folders = {});
};

// Searches in order: `wanted`; the loaded library; the toolkits; the loader's folders; /usr/local/cuda*, newest first;
// the application's folders; pip's and conda's packages; the loader. Skips releases older than 12.8, and libraries
// found by search that others than root and this user could have put there (base/trusted_path.h). The error (nvrtc)
// lists every path tried.
[[nodiscard]] Result<Location> locate(const Places& places);
[[nodiscard]] Result<Location> locate(const std::filesystem::path& wanted);

}  // namespace tma_jit::compile
