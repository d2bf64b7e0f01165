// What a machine offers: driver, device, compiler and cache folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tma_jit/device_info.h>
#include <tma_jit/error.h>

namespace tma_jit {

// What the machine offers, for `doctor`. A missing part holds the error that explains it.
struct Environment {
  struct Compiler {
    std::string path{};
    std::string version{};                        // "13.0.88" if known, else "13.0"
    std::string identity{};                       // the text that cache keys contain
    std::vector<std::string> archs{};             // found by test compiles, with suffixes
    std::vector<std::string> missing_features{};  // described in words; features of newer releases
    std::string place{};                          // where it runs: the worker's program, or "this process"
  };
  Result<int> driver_version = tl::unexpected(Error{});
  Result<DeviceInfo> device = tl::unexpected(Error{});
  Result<Compiler> compiler = tl::unexpected(Error{});
  std::filesystem::path cache_dir{};
  Result<void> cache_writable;
  std::string remote{};       // the server of cache entries, without credentials; empty: none is named
  bool tma_disabled = false;  // by TMA_JIT_DISABLE_TMA, for engines whose options do not set it
};

}  // namespace tma_jit
