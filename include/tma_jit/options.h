// The settings of an engine: its device, folders, compiler, cache and log.
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

// Called from any thread, one call at a time per engine. It must not call the engine, which may hold locks while it
// logs. What it throws is dropped.
using LogCallback = std::function<void(LogLevel level, std::string_view message)>;

// What a process does with the remote level of the cache.
enum class RemoteRole : std::uint8_t { read_write, read_only, write_only };

// A server that keeps entries for many machines; docs/caching.md lists the URLs and says what is trusted. It is asked
// for entries that no folder of this machine has, and is sent what is compiled. A call never fails because the server
// does not answer or answers wrongly. Empty members are taken from the environment: TMA_JIT_REMOTE and
// TMA_JIT_REMOTE_..., and for S3 AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION.
struct RemoteOptions {
  std::string url{};                 // TMA_JIT_REMOTE; empty: none
  std::optional<RemoteRole> role{};  // ..._ROLE: "read-write", "read-only" or "write-only"; unset: read_write
  double wait_s = 1;   // longest wait for an answer; after a wait that long no thread asks again for ten minutes
  double flush_s = 5;  // longest wait for uploads when the engine ends
  std::string user{}, password{};           // ..._USER and ..._PASSWORD; what the URL has comes first
  std::string token{};                      // ..._TOKEN: a bearer token
  std::filesystem::path ca{};               // ..._CA: certificates to trust instead of the system's, PEM
  std::filesystem::path certificate{};      // ..._CERT: this client's, for mutual TLS
  std::filesystem::path certificate_key{};  // ..._CERT_KEY
  std::filesystem::path sign_key{};         // ..._SIGN: private key that signs what is uploaded (tma-jit cache keygen)
  std::filesystem::path library{};          // libtma_jit_remote.so to open instead of searching for it
};

// How the cache folder is used; docs/caching.md gives the reasons. Empty lists are taken from the environment when the
// engine is created.
struct CacheOptions {
  std::uint64_t bytes = std::uint64_t{2} << 30;  // above this size the least recently used entries are removed
  std::uint64_t entries = 50'000;
  std::vector<std::filesystem::path> read_only{};  // folders and packs searched after cache_dir; TMA_JIT_CACHE_RO
  std::vector<std::filesystem::path> pack_keys{};  // public keys, or folders of them; one must have signed a pack
                                                   // or an entry of a server; TMA_JIT_PACK_KEYS
  std::filesystem::path node_dir{};  // folder of this machine, searched before cache_dir; empty: created if cache_dir
                                     // is on a network file system
  double wait_s = 120;               // longest wait for another process that compiles the same kernel; infinity: no
                                     // limit; 0 or less: none; NaN: 120
  bool shared = false;               // every user may read cache_dir and its entries, only this user may write them; an
                                     // existing folder is changed to that
  RemoteOptions remote{};            // searched after all folders and packs
};

// What a sealed engine does when a kernel would have to be compiled: compile, report and compile, or refuse
// (ErrorCode::sealed).
enum class Seal : std::uint8_t { off, warn, refuse };

// A compile that was needed although the engine is sealed.
struct Miss {
  std::string kernel{}, arch{};
  Key key{};
  std::string explanation{};  // how it differs from the cached kernels; one or more lines
};
// Called from any thread that requests a kernel, in that thread, before it continues. What it throws is dropped.
using MissCallback = std::function<void(const Miss& miss)>;

// When configurations are measured, and whether plans follow the records of that; docs/tuning.md compares them.
enum class TuningPolicy : std::uint8_t {
  off,         // plans ignore all records, and nothing is measured
  records,     // plans follow the records that exist, and nothing is measured
  at_start,    // also: `prepare` and `prepare_async` tune a request without a record before they prepare it, as long as
               // budget_s lasts
  background,  // also: a Function serves a shape without a record by the planned configuration at once, a thread of the
               // engine tunes the shape beside the application's work, and later calls use the faster configuration
};

// Tuning records that plans follow; <tma_jit/tuning.h> makes them. A record pins a configuration, so that the same
// records give the same plan on every machine. A sealed engine measures nothing.
struct TuningOptions {
  std::optional<TuningPolicy> policy{};  // unset: TMA_JIT_TUNING, "off", "records", "at-start" or "background"; else
                                         // `records`
  std::vector<std::filesystem::path> records{};  // files of records, searched in this order before tuning_file(engine);
                                                 // TMA_JIT_TUNED, colon-separated
  double budget_s = 60;  // at_start: wall-clock time of all tuning; background: time of all measuring on the device
  double device_share = 0.1;  // background: largest share of the time in which the device measures; 1: no pauses
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  // at_start, background: a problem that needs more device memory
                                                        // is not tuned
  std::function<bool()> may_measure{};  // background: called in the engine's thread before every step of the
                                        // measurement; returning false, or throwing, postpones the step
};

// Read once, when the engine is created. Unset paths are taken from the environment at that moment: TMA_JIT_CACHE_DIR,
// TMA_JIT_TEMPLATES (colon-separated), TMA_JIT_NVRTC (the library's path), TMA_JIT_COMPILER and TMA_JIT_WORKER.
// TMA_JIT_EMULATOR gives settings of the emulator that `device` leaves unset. If `disable_tma` is unset,
// TMA_JIT_DISABLE_TMA set to anything but 0 sets it.
struct Options {
  Device device{};                     // default: the first GPU
  std::string arch{};                  // target instead of the device's own; not for an emulated device, which runs
                                       // only its own
  std::optional<DeviceInfo> limits{};  // plan with the tighter of these limits and the device's
  std::filesystem::path cache_dir{};   // empty: the environment, then the user's cache folder
  bool use_cache = true;
  CacheOptions cache{};
  std::vector<std::filesystem::path> template_dirs{};  // searched first; override embedded templates of the same name
  std::filesystem::path nvrtc{};                       // libnvrtc to load instead of searching for it
  std::vector<std::filesystem::path> nvrtc_dirs{};     // searched for libnvrtc where no toolkit has one
  std::optional<bool> disable_tma{};                   // plan only with template files that do not use TMA
  CompilerOptions compiler{};                          // the process that compiles, and its limits
  std::filesystem::path record_misses{};               // file that gets a line for `tma-jit warm` per kernel that had
                                                       // to be compiled; empty: TMA_JIT_RECORD_MISSES
  std::filesystem::path record_requests{};  // file that gets a line per request that is prepared, compiled or found,
                                            // each once; empty: TMA_JIT_RECORD_REQUESTS
  TuningOptions tuning{};
  Seal seal = Seal::off;  // state at construction; for processes whose cache was filled before
  MissCallback on_sealed_miss{};
  bool line_info = false;  // -lineinfo: profilers show the template's lines; part of the key
  LogLevel log_level = LogLevel::warning;
  LogCallback log{};  // empty: warnings and errors go to stderr
};

}  // namespace tma_jit
