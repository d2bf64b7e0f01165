// Obtains the artifact of a CUDA text from the cheapest source: this process's memory, the cache folder, NVRTC.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <tma_jit/artifact.h>
#include <tma_jit/engine.h>

#include "base/log.h"
#include "base/memo.h"
#include "cache/layers.h"
#include "engine/counters.h"
#include "engine/crash_policy.h"
#include "engine/entry_fields.h"
#include "engine/lazy_compiler.h"
#include "engine/misses.h"
#include "source/draft.h"

namespace tma_jit::engine {

// An artifact and its compiler's identity.
struct Built {
  std::shared_ptr<const Artifact> artifact;
  std::string compiler;
  bool kept = false;  // whether it is in the cache; else only in this process
};

// Thread-safe. At most one compile per key is in flight; a failed one is not remembered. Cache faults are counted and
// warned of once, and are never errors.
class Builder {
 public:
  struct Settings {
    bool use_cache = true;
    cache::LayerSettings cache;
    EngineCompiler::Settings compiler;
  };
  Builder(Settings settings, Logger log, Counters& counters, Misses& misses);

  // A kernel that is known to crash the compiler is not compiled again: its error (crash) is returned at once.
  [[nodiscard]] Result<Built> build(const source::Draft& draft);
  // Returns the cached artifact, verified; never compiles. Fails (not_found) if no layer of the cache has it.
  [[nodiscard]] Result<Built> find(const source::Draft& draft);
  // For a cached cubin that the driver rejects: compiles it again and replaces the entry, unless another process has
  // done so or the compiler produces the same bytes.
  [[nodiscard]] Result<Built> rebuild(const Source& source, const Built& refused);
  // Returns the recorded crash of the compiler for this source, if any.
  std::optional<CrashMemory::Crash> crash_of(const source::Draft& draft);
  CrashMemory& crashes() { return crashes_; }
  // Returns the key; without NVRTC, the key under which the cache has the source.
  [[nodiscard]] Result<Key> key(const source::Draft& draft);
  [[nodiscard]] Result<std::string> ptx(const Source& source);

  EngineCompiler& compiler() { return compiler_; }
  [[nodiscard]] Result<void> cache_writable();
  // Returns the tuning records that the cache's read-only layers carry.
  std::vector<cache::Layers::Records> carried_records();
  void add_cache_stats(CacheStats& stats);
  [[nodiscard]] Result<CacheExplanation> explain(const Source& source);

 private:
  [[nodiscard]] Result<Built> build_with(const compile::Location& found, const source::Draft& draft);
  [[nodiscard]] Result<Built> make(const source::Draft& draft, const Key& key, const std::string& identity,
                                   bool& compiled);
  [[nodiscard]] Result<Built> fetch(const Key& key);
  [[nodiscard]] Result<Built> take(const Key& key, cache::Lookup lookup);
  [[nodiscard]] Result<Built> compile(const Source& source, const Key& key, const std::string& identity);
  std::string likely_identity();
  [[nodiscard]] Result<Built> find_recorded(const source::Draft& draft, Error no_compiler);
  struct Explained {
    CacheExplanation explanation;
    bool complete = true;
  };
  Explained explain(const Source& source, const std::string& identity, std::chrono::steady_clock::time_point until);
  std::string differences(const Source& source, const std::string& identity);
  [[nodiscard]] Result<void> admit_without_compiler(const Source& source);
  bool publish(const Built& built, const Source& source, cache::Turn& turn);
  void warn_once(const std::string& what);

  static constexpr std::chrono::milliseconds kExplainingMax{250};  // longest time to explain a sealed engine's miss

  const Settings settings_;
  const Logger log_;
  Counters& counters_;
  Misses& misses_;
  EngineCompiler compiler_;
  CrashMemory crashes_;
  std::optional<cache::Layers> cache_;  // absent if the cache is off
  Memo<Key, Built> built_;
  std::atomic<bool> warned_ = false;
};

// Returns the metadata of a cache entry: a line of JSON for `built_from`, and a line for tools with the inputs of the
// key.
std::string metadata_of(const Artifact& artifact, const Source& source, std::string_view compiler);
std::string metadata_of(const Artifact& artifact, std::string_view kernel, std::string_view compiler,
                        const Fields& parts);
[[nodiscard]] Result<Built> built_from(cache::Entry entry, const Key& key);

}  // namespace tma_jit::engine
