// The process's environment, as far as the library uses it. Nothing else in the library reads it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tma_jit {

// Read once, when an engine is made, and handed on. In a program that has more rights than the user who started it
// (set-user-id, set-group-id, file capabilities: AT_SECURE), every member is empty: the caller chose the environment,
// and must not choose what such a program loads, starts or writes.
struct ProcessEnvironment {
  // TMA_JIT_...
  std::string compiler;                                // COMPILER: "inproc" or "worker"
  std::string disable_tma;                             // DISABLE_TMA
  std::string emulator;                                // EMULATOR: settings of the emulated device
  std::filesystem::path cache_dir;                     // CACHE_DIR
  std::filesystem::path nvrtc;                         // NVRTC
  std::filesystem::path record_misses;                 // RECORD_MISSES
  std::filesystem::path worker;                        // WORKER
  std::vector<std::filesystem::path> cache_read_only;  // CACHE_RO
  std::vector<std::filesystem::path> pack_keys;        // PACK_KEYS; an empty path where it is set to nothing
  std::vector<std::filesystem::path> templates;        // TEMPLATES
  std::vector<std::filesystem::path> tuned;            // TUNED

  std::filesystem::path home;                              // HOME
  std::filesystem::path xdg_cache_home;                    // XDG_CACHE_HOME
  std::filesystem::path xdg_runtime_dir;                   // XDG_RUNTIME_DIR
  std::vector<std::filesystem::path> library_path;         // LD_LIBRARY_PATH
  std::vector<std::filesystem::path> toolkits;             // CUDA_HOME, CUDA_PATH
  std::vector<std::filesystem::path> python_environments;  // VIRTUAL_ENV, CONDA_PREFIX
  std::vector<std::string> words;  // all of it as NAME=VALUE, for a process that is started later

  [[nodiscard]] static ProcessEnvironment read();
};

// Whether this program has more rights than the user who started it.
[[nodiscard]] bool has_raised_privileges();

}  // namespace tma_jit
