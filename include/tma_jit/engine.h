// The engine: from a request to a launch, and each stage between as a value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/compile_worker.h>
#include <tma_jit/device_info.h>
#include <tma_jit/launch.h>
#include <tma_jit/plan.h>
#include <tma_jit/request.h>

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
  double wait_s = 120;               // for another process that compiles the same kernel
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

// Read once, when the engine is made. Unset paths come from the environment at that moment: TMA_JIT_CACHE_DIR,
// TMA_JIT_TEMPLATES (colon-separated), TMA_JIT_NVRTC (the library's path), TMA_JIT_COMPILER and TMA_JIT_WORKER.
// TMA_JIT_DISABLE_TMA, set to anything but 0, sets disable_tma.
struct Options {
  // A CUDA ordinal; "emulator", "emulator:sm_100a" or "emulator:sm_100a:policy=lazy,seed=7" to run on the CPU
  // (docs/emulator.md); or a name from known_devices() to plan and build without a GPU.
  std::string device = "0";
  std::string arch{};                  // target instead of the device's own
  std::optional<DeviceInfo> limits{};  // plan with the tighter of these and the device's limits
  std::filesystem::path cache_dir{};   // empty: the environment, then the user's cache folder
  bool use_cache = true;
  CacheOptions cache{};
  std::vector<std::filesystem::path> template_dirs{};  // searched first; shadow embedded templates of the same name
  std::filesystem::path nvrtc{};                       // libnvrtc to load instead of searching
  bool disable_tma = false;                            // plan only with template files that do not use TMA
  CompilerOptions compiler{};                          // in a process of its own, and with which limits
  std::filesystem::path record_misses{};               // gets a line for every kernel that had to be compiled, for
                                                       // `tma-jit warm`; empty: TMA_JIT_RECORD_MISSES
  Seal seal = Seal::off;                               // from the start on: for processes whose cache was filled before
  MissCallback on_sealed_miss{};
  bool line_info = false;  // -lineinfo: profilers see the template's lines; part of the key
  LogLevel log_level = LogLevel::warning;
  LogCallback log{};  // unset: warnings and errors go to stderr
};

struct CacheStats {
  // Why entries that were there were not used; together Stats::disk_faults.
  std::uint64_t unreadable = 0, untrusted = 0, other_format = 0, corrupt = 0, wrong_key = 0;
  std::uint64_t healed = 0;                         // such entries replaced by a compile
  std::uint64_t node_hits = 0, read_only_hits = 0;  // of Stats::disk_hits
  std::uint64_t waits = 0;                          // for another process that compiled the same
  std::uint64_t wait_timeouts = 0;                  // of these, given up
  std::uint64_t lockless = 0;                       // compiles without a lock, for want of locks
  std::uint64_t evicted = 0;
};

// Counters since the engine was made.
struct Stats {
  std::uint64_t plans = 0;
  std::uint64_t compiles = 0;
  std::uint64_t compile_failures = 0;
  std::uint64_t memory_hits = 0;  // cubin already in this process
  std::uint64_t disk_hits = 0;
  std::uint64_t disk_misses = 0;
  std::uint64_t disk_faults = 0;  // entries that were there and not usable
  std::uint64_t disk_writes = 0;
  std::uint64_t disk_write_failures = 0;
  std::uint64_t loads = 0;  // cubins loaded into the driver
  std::uint64_t workers_started = 0;
  std::uint64_t workers_lost = 0;     // to crashes, time and memory limits
  std::uint64_t crashes_avoided = 0;  // configurations passed over because they crash this compiler
  std::uint64_t sealed_misses = 0;    // compiles that a seal warned of or refused
  std::uint64_t misses_recorded = 0;
  double compile_ms = 0;
  CacheStats cache{};
};

// Why a kernel is, or is not, in the cache.
struct CacheDifference {
  std::string field{};          // "arch", a constant's name, "template", a header's name, "options" ...
  std::string here{}, there{};  // of the request and of the entry; digests of what is long, empty where there is none
};
struct CacheExplanation {
  Key key{};
  bool found = false;
  std::string where{};    // the folder or pack that has it
  std::string fault{};    // why an entry that is there is not used; empty: none is there, or it is used
  std::string nearest{};  // hex key of the entry of the same kernel that differs least; empty: there is none
  std::vector<CacheDifference> differences{};  // of that entry, the most telling first
};

// What a template declares, as text, for `list` and `show`.
struct KernelInfo {
  struct Item {
    std::string name{};
    std::string declaration{};  // as written, less the directive and the doc text
    std::string doc{};
  };
  std::string kernel{};
  std::string file{};
  std::string doc{};
  bool embedded = true;
  bool probe = false;  // shows and proves one device primitive; lies in a folder named "probes"
  std::vector<std::string> archs{};
  std::vector<Item> types{}, dims{}, params{}, lets{}, rules{}, tensors{}, scalars{}, workspaces{}, hooks{}, presets{};
  bool has_reference = false;
};

// What the machine offers, for `doctor`. Absent parts carry the error that explains them.
struct Environment {
  struct Compiler {
    std::string path{};
    std::string version{};             // "13.0.88" where known, else "13.0"
    std::string identity{};            // what the key holds
    std::vector<std::string> archs{};  // probed: what really compiles, suffixes included
    std::vector<std::string> lacks{};  // features of newer releases it does not have, in words
    std::string place{};               // where it runs: the worker's program, or "this process"
  };
  Result<int> driver_version = tl::unexpected(Error{});
  Result<DeviceInfo> device = tl::unexpected(Error{});
  Result<Compiler> compiler = tl::unexpected(Error{});
  std::filesystem::path cache_dir{};
  Result<void> cache_writable;
};

// Cheap to make: opens the device, NVRTC and the cache on first use. Thread-safe. Engines share nothing.
class TMA_JIT_API Engine {
 public:
  explicit Engine(Options options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // Stages. `plan` needs no CUDA when Options::device is a name; `emit` never does; `build` needs NVRTC on a miss.
  Result<Plan> plan(const Request& request);
  Result<Enumeration> enumerate(const Request& request);
  Result<Source> emit(const Plan& plan);
  Result<std::string> emit_standalone(const Plan& plan);  // one file that nvcc compiles as it is
  Result<Key> key(const Plan& plan);
  Result<Cubin> build(const Plan& plan);
  // Compiles nothing; reads every entry of the cache unless it has the kernel.
  Result<CacheExplanation> explain(const Plan& plan);
  Result<std::string> build_ptx(const Plan& plan);  // never cached

  // The whole way. One compile per key is in flight; other callers wait for it. The second form takes a plan that was
  // edited or written by hand.
  Result<Launch> prepare(const Request& request);
  Result<Launch> prepare(const Plan& plan);
  // A callable for tensors that change; `request` gives everything but the tensors.
  Result<Function> function(const Request& request);

  // From now on nothing should need a compile: what does is refused, or told of. Any thread, at any time; `off` undoes
  // it.
  void seal(Seal seal = Seal::refuse);

  // Templates beside the embedded ones and those in Options::template_dirs. A name like "device/own.cuh" adds a header
  // that templates may include.
  Result<void> add_template(std::string name, std::string text);
  Result<void> add_template_file(const std::filesystem::path& file);
  // One element a template file; a file that does not parse is an error in its place.
  std::vector<Result<KernelInfo>> kernels();
  // One request for every preset (and the defaults) of every file of a kernel that serves the engine's arch, and for
  // every choice of its types: what `check` and pre-warming build. Dims not in `dims` are 1024.
  Result<std::vector<Request>> presets(std::string_view kernel, const std::map<std::string, std::int64_t>& dims = {});

  Result<DeviceInfo> device();  // the facts plans are made with
  Environment environment();
  Stats stats() const;
  const std::filesystem::path& cache_dir() const;

  // For the library's own parts.
  struct State;
  explicit Engine(std::shared_ptr<State> state);
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tma_jit
