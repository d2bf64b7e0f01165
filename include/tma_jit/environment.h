// What a machine offers: driver, device, compiler and cache folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tma_jit/device_info.h>
#include <tma_jit/error.h>

namespace tma_jit {

// What the machine offers, for `doctor`. Absent parts carry the error that explains them.
struct Environment {
  struct Compiler {
    std::string path{};
    std::string version{};                        // "13.0.88" where known, else "13.0"
    std::string identity{};                       // what the key holds
    std::vector<std::string> archs{};             // probed: what really compiles, suffixes included
    std::vector<std::string> missing_features{};  // those of newer releases, in words
    std::string place{};                          // where it runs: the worker's program, or "this process"
  };
  Result<int> driver_version = tl::unexpected(Error{});
  Result<DeviceInfo> device = tl::unexpected(Error{});
  Result<Compiler> compiler = tl::unexpected(Error{});
  std::filesystem::path cache_dir{};
  Result<void> cache_writable;
  bool tma_disabled = false;  // by TMA_JIT_DISABLE_TMA, for engines whose options leave it open
};

}  // namespace tma_jit
