// The engine: from a request to a launch, and each stage between as a value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/environment.h>
#include <tma_jit/example.h>
#include <tma_jit/kernel_info.h>
#include <tma_jit/launch.h>
#include <tma_jit/options.h>
#include <tma_jit/plan.h>
#include <tma_jit/preparation.h>
#include <tma_jit/request.h>
#include <tma_jit/stats.h>

namespace tma_jit {

struct TuningRecord;

// Cheap to make: opens the device, NVRTC and the cache on first use. Thread-safe. Engines share nothing.
class TMA_JIT_API Engine {
 public:
  explicit Engine(Options options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // Stages. `plan` needs no CUDA for a known device; `emit` never does; `build` needs NVRTC on a miss.
  [[nodiscard]] Result<Plan> plan(const Request& request);
  [[nodiscard]] Result<Enumeration> enumerate(const Request& request);
  // The configurations most worth measuring for a request, at most `most`, the one `plan` takes first.
  [[nodiscard]] Result<std::vector<Candidate>> candidates(const Request& request, std::size_t most);
  [[nodiscard]] Result<Source> emit(const Plan& plan);
  [[nodiscard]] Result<std::string> emit_standalone(const Plan& plan);  // one file that nvcc compiles as it is
  [[nodiscard]] Result<Key> key(const Plan& plan);
  [[nodiscard]] Result<Artifact> build(const Plan& plan);
  // Compiles nothing. Reads the folder's index, and those entries that it lacks.
  [[nodiscard]] Result<CacheExplanation> explain(const Plan& plan);
  [[nodiscard]] Result<std::string> build_ptx(const Plan& plan);  // never cached

  // The whole way. One compile per key is in flight; other callers wait for it. The second form takes a plan that was
  // edited or written by hand.
  [[nodiscard]] Result<Launch> prepare(const Request& request);
  [[nodiscard]] Result<Launch> prepare(const Plan& plan);
  // Each of the requests the same way, in the background; returns at once. Its end waits for what has begun.
  [[nodiscard]] Preparation prepare_async(std::vector<Request> requests, PrepareOptions options = {});
  // A callable for tensors that change; `request` gives everything but the tensors.
  [[nodiscard]] Result<Function> function(const Request& request);

  // Plans follow these records from now on, before those of any file: what another process or host has tuned.
  void follow(const std::vector<TuningRecord>& records);

  // From now on nothing should need a compile: what does is refused, or reported. Any thread, at any time; `off` undoes
  // it.
  void seal(Seal seal = Seal::refuse);

  // Templates beside the embedded ones and those in Options::template_dirs. A name like "device/own.cuh" adds a header
  // that templates may include.
  [[nodiscard]] Result<void> add_template(std::string name, std::string text);
  [[nodiscard]] Result<void> add_template_file(const std::filesystem::path& file);
  // One element a template file; a file that does not parse is an error in its place.
  std::vector<Result<KernelInfo>> kernels();
  // One request for every preset (and the defaults) of every file of a kernel that serves the engine's arch, and for
  // every choice of its types: what `check` and pre-warming build. Dims not in `dims` are 1024.
  [[nodiscard]] Result<std::vector<Request>> presets(std::string_view kernel,
                                                     const std::map<std::string, std::int64_t>& dims = {});

  // A problem of the kernel for this engine's device: the request with dims that satisfy the template's ranges and
  // rules, and with hooks and scalars where those have no default. Params are pinned only where the planner would
  // choose ones that do not take the problem. Planning it tells the tensors. Fails (no_config) where none is found.
  [[nodiscard]] Result<Request> example(const Request& request, ExampleSize size = {});
  // What `check` runs: for every preset (and the defaults) of every file that serves the engine's arch, every choice of
  // types and every sort of extents, a problem that satisfies the preset's condition too, all params pinned. A preset
  // for which no problem is found is there once, so that planning it tells why.
  [[nodiscard]] Result<std::vector<Request>> examples(std::string_view kernel,
                                                      const std::map<std::string, std::int64_t>& dims = {});

  [[nodiscard]] Result<DeviceInfo> device();  // the facts plans are made with
  Environment environment();
  // The compiler alone, and of it only what costs no compile: `archs` and `missing_features` are empty.
  [[nodiscard]] Result<Environment::Compiler> compiler();
  Stats stats() const;
  const std::filesystem::path& cache_dir() const;

  struct State;  // the library's own

 private:
  friend struct EngineInternals;
  explicit Engine(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace tma_jit
