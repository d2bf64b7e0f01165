// The environment variables that the library uses. No other file of the library reads the environment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tma_jit {

// Read once, when an engine is created, and passed on. In a program with more rights than the user who started it
// (set-user-id, set-group-id, file capabilities: AT_SECURE) every member is empty, because the environment comes from
// that user, who must not choose what such a program loads, starts or writes.
struct ProcessEnvironment {
  // TMA_JIT_...
  std::string compiler;                                // COMPILER: "inproc" or "worker"
  std::string disable_tma;                             // DISABLE_TMA
  std::string emulator;                                // EMULATOR: settings of the emulated device
  std::string tuning;                                  // TUNING: "off", "records", "at-start" or "background"
  std::filesystem::path cache_dir;                     // CACHE_DIR
  std::filesystem::path nvrtc;                         // NVRTC
  std::filesystem::path record_misses;                 // RECORD_MISSES
  std::filesystem::path record_requests;               // RECORD_REQUESTS
  std::filesystem::path worker;                        // WORKER
  std::vector<std::filesystem::path> cache_read_only;  // CACHE_RO
  std::vector<std::filesystem::path> pack_keys;        // PACK_KEYS; one empty path if set to ""
  std::vector<std::filesystem::path> templates;        // TEMPLATES
  std::vector<std::filesystem::path> tuned;            // TUNED

  // TMA_JIT_REMOTE, TMA_JIT_REMOTE_..., and what other programs use for S3.
  struct Remote {
    std::string url, role, user, password, token;                               // "", ROLE, USER, PASSWORD, TOKEN
    std::filesystem::path ca, certificate, certificate_key, sign_key;           // CA, CERT, CERT_KEY, SIGN
    std::string aws_access_key, aws_secret_key, aws_session_token, aws_region;  // AWS_ACCESS_KEY_ID and so on
  } remote;

  std::filesystem::path home;                              // HOME
  std::filesystem::path xdg_cache_home;                    // XDG_CACHE_HOME
  std::filesystem::path xdg_runtime_dir;                   // XDG_RUNTIME_DIR
  std::vector<std::filesystem::path> library_path;         // LD_LIBRARY_PATH
  std::vector<std::filesystem::path> toolkits;             // CUDA_HOME, CUDA_PATH
  std::vector<std::filesystem::path> python_environments;  // VIRTUAL_ENV, CONDA_PREFIX
  std::vector<std::string> words;  // the whole environment as NAME=VALUE, for processes started later

  [[nodiscard]] static ProcessEnvironment read();
};

// Returns whether this program has more rights than the user who started it.
[[nodiscard]] bool has_raised_privileges();

}  // namespace tma_jit
