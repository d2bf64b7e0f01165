// How an engine is set up: its device, its folders, its compiler, its cache and its log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/compile_worker.h>
#include <tma_jit/device_choice.h>
#include <tma_jit/device_info.h>

namespace tma_jit {

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error, off };

// Called from any thread, one call at a time per engine.
using LogCallback = std::function<void(LogLevel level, std::string_view message)>;

// How the cache folder is used; docs/caching.md says why. Unset lists come from the environment when the engine is
// made.
struct CacheOptions {
  std::uint64_t bytes = std::uint64_t{2} << 30;  // beyond these the entries used longest ago are removed
  std::uint64_t entries = 50'000;
  std::vector<std::filesystem::path> read_only{};  // folders and packs asked after cache_dir; TMA_JIT_CACHE_RO
  std::vector<std::filesystem::path> pack_keys{};  // public keys, or folders of them, one of which must have signed a
                                                   // pack; TMA_JIT_PACK_KEYS
  std::filesystem::path node_dir{};  // this machine's own folder before cache_dir; empty: made where cache_dir is on a
                                     // network file system
  double wait_s = 120;               // for another process that compiles the same kernel; infinity: until it is there;
                                     // 0 or less: not at all; not a number: 120
  bool shared = false;               // cache_dir and what is put there may be read by every user, and written by this
                                     // one alone; a folder that is there already becomes so
};

// What a sealed engine does when a kernel would have to be compiled: go on, say so and go on, or refuse
// (ErrorCode::sealed).
enum class Seal : std::uint8_t { off, warn, refuse };

// A compile that a seal did not expect.
struct Miss {
  std::string kernel{}, arch{};
  Key key{};
  std::string explanation{};  // how it differs from what the cache has; lines
};
// Called in the thread that asked for the kernel, from any thread, before it goes on.
using MissCallback = std::function<void(const Miss& miss)>;

// Records of tuning that plans follow; <tma_jit/tuning.h> makes them. A record pins a configuration: the same records,
// the same plan, on every machine.
struct TuningOptions {
  bool follow_records = true;                    // false: plans as if there were none
  std::vector<std::filesystem::path> records{};  // files of records, asked in this order before tuning_file(engine);
                                                 // TMA_JIT_TUNED, colon-separated
};

// Read once, when the engine is made. Unset paths come from the environment at that moment: TMA_JIT_CACHE_DIR,
// TMA_JIT_TEMPLATES (colon-separated), TMA_JIT_NVRTC (the library's path), TMA_JIT_COMPILER and TMA_JIT_WORKER.
// TMA_JIT_EMULATOR has settings of the emulator that `device` leaves open.
// TMA_JIT_DISABLE_TMA, set to anything but 0, sets disable_tma where that is not set.
struct Options {
  Device device{};                     // the first GPU
  std::string arch{};                  // target instead of the device's own; an emulated device runs its own only
  std::optional<DeviceInfo> limits{};  // plan with the tighter of these and the device's limits
  std::filesystem::path cache_dir{};   // empty: the environment, then the user's cache folder
  bool use_cache = true;
  CacheOptions cache{};
  std::vector<std::filesystem::path> template_dirs{};  // searched first; shadow embedded templates of the same name
  std::filesystem::path nvrtc{};                       // libnvrtc to load instead of searching
  std::optional<bool> disable_tma{};                   // plan only with template files that do not use TMA
  CompilerOptions compiler{};                          // in a process of its own, and with which limits
  std::filesystem::path record_misses{};               // gets a line for every kernel that had to be compiled, for
                                                       // `tma-jit warm`; empty: TMA_JIT_RECORD_MISSES
  TuningOptions tuning{};
  Seal seal = Seal::off;  // from the start on: for processes whose cache was filled before
  MissCallback on_sealed_miss{};
  bool line_info = false;  // -lineinfo: profilers see the template's lines; part of the key
  LogLevel log_level = LogLevel::warning;
  LogCallback log{};  // unset: warnings and errors go to stderr
};

}  // namespace tma_jit
