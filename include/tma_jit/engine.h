// The engine: turns a request into a launch, and offers each stage in between as a value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/chain.h>
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

// Cheap to construct: the device, NVRTC and the cache are opened on first use. Thread-safe. Engines share no state.
class TMA_JIT_API Engine {
 public:
  explicit Engine(Options options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // The stages. `plan` needs no CUDA for a known device, `emit` never needs it, and `build` needs NVRTC only on a cache
  // miss.
  [[nodiscard]] Result<Plan> plan(const Request& request);
  [[nodiscard]] Result<Enumeration> enumerate(const Request& request);
  // Returns the tensors of a request that gives none, without addresses: packed, or padded for tensor maps. No
  // configuration need be valid with these strides, which may be changed before `plan` is asked.
  [[nodiscard]] Result<std::vector<NamedTensor>> tensors_of(const Request& request);
  // Returns the configurations of a request that are most worth measuring, at most `most`; the first is the one that
  // `plan` would choose.
  [[nodiscard]] Result<std::vector<Candidate>> candidates(const Request& request, std::size_t most);
  [[nodiscard]] Result<Source> emit(const Plan& plan);
  [[nodiscard]] Result<std::string> emit_standalone(const Plan& plan);  // one file that nvcc compiles unchanged
  [[nodiscard]] Result<Key> key(const Plan& plan);
  [[nodiscard]] Result<Artifact> build(const Plan& plan);
  // Explains a cache hit or miss without compiling. Reads the folder's index, and those entries that the index lacks.
  [[nodiscard]] Result<CacheExplanation> explain(const Plan& plan);
  [[nodiscard]] Result<std::string> build_ptx(const Plan& plan);  // never cached

  // Run all stages. Only one compile per key is in flight; other callers wait for it. The second form takes a plan that
  // was edited or written by hand.
  [[nodiscard]] Result<Launch> prepare(const Request& request);
  [[nodiscard]] Result<Launch> prepare(const Plan& plan);
  // Loads a kernel that was built before, by `build` or `tma-jit build`, for the plan that it was built from, which may
  // come from parse_plan. Nothing is compiled, and neither the templates nor the cache are read. Fails
  // (invalid_argument) where the bytes are no kernel for the plan's target.
  [[nodiscard]] Result<Launch> load(const Plan& plan, std::vector<std::byte> kernel);
  // Prepares requests that are launched in this order with one call, a stage each; every tensor has its address. See
  // Chain. Fails (invalid_argument) where a stage reads more than, or another type than, an earlier one writes there.
  [[nodiscard]] Result<Chain> chain(const std::vector<Request>& stages);
  // Prepares each of the requests in the background; returns at once. Destroying the Preparation waits for requests
  // that have begun.
  [[nodiscard]] Preparation prepare_async(std::vector<Request> requests, PrepareOptions options = {});
  // Returns a callable for tensors that change between calls; `request` gives everything but the tensors.
  [[nodiscard]] Result<Function> function(const Request& request);

  // Adds tuning records that later plans follow, in preference to those of any file. For records of another process or
  // host.
  void follow(std::vector<TuningRecord> records);

  // From now on a request that needs a compile is refused or reported. `off` undoes it. Any thread may call it at any
  // time.
  void seal(Seal seal = Seal::refuse);

  // Adds a template to the embedded ones and those in Options::template_dirs. A name such as "device/own.cuh" adds a
  // header that templates may include.
  [[nodiscard]] Result<void> add_template(std::string name, std::string text);
  [[nodiscard]] Result<void> add_template_file(const std::filesystem::path& file);
  // Returns one element per template file; a file that does not parse is an error in its place. With the name of a
  // kernel only its files are parsed, and the result is empty if no file declares it.
  [[nodiscard]] std::vector<Result<KernelInfo>> kernels(std::optional<std::string_view> kernel = std::nullopt);
  // Returns one request for every preset (and the defaults) of every file of a kernel that serves the engine's arch,
  // and for every choice of its types: the set that `check` and pre-warming build. Dims that are not in `dims` are
  // 1024.
  [[nodiscard]] Result<std::vector<Request>> presets(std::string_view kernel,
                                                     const std::map<std::string, std::int64_t>& dims = {});

  // Returns the request completed to a solvable problem for this engine's device: dims that satisfy the template's
  // ranges and rules, and hooks and scalars where those have no default. Params are pinned only if the planner's own
  // choice would not accept the problem, and types are named only if no file accepts the default ones. Planning the
  // result gives the tensors. Fails (no_config) if no such problem is found.
  [[nodiscard]] Result<Request> example(const Request& request, ExampleSize size = {});
  // Returns the problems that `check` runs: for every preset (and the defaults) of every file that serves the engine's
  // arch, for every choice of types and every kind of extents, a problem that also satisfies the preset's condition,
  // with all params pinned. A preset for which no problem is found occurs once, so that planning it reports the
  // reason, unless it may be for other kernels or for requests that pin other params.
  [[nodiscard]] Result<std::vector<Request>> examples(std::string_view kernel,
                                                      const std::map<std::string, std::int64_t>& dims = {});

  [[nodiscard]] Result<DeviceInfo> device();  // the facts that plans are based on
  Environment environment();
  // Returns the compiler's part of `environment`, without what needs a compile: `archs` and `missing_features` are
  // empty.
  [[nodiscard]] Result<Environment::Compiler> compiler();
  Stats stats() const;
  const std::filesystem::path& cache_dir() const;

  struct State;  // private to the library

 private:
  friend struct EngineInternals;
  explicit Engine(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace tma_jit
