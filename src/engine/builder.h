// From CUDA text to an artifact by the shortest way: this process's memory, the cache folder, NVRTC.
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

namespace tma_jit::engine {

// An artifact and who compiled it.
struct Built {
  std::shared_ptr<const Artifact> artifact;
  std::string compiler;
  bool kept = false;  // in the cache; else by this process
};

// Thread-safe. One compile a key is in flight; a failed one is not remembered. Cache faults are counted, warned of once
// and never an error.
class Builder {
 public:
  struct Settings {
    bool use_cache = true;
    cache::LayerSettings cache;
    EngineCompiler::Settings compiler;
  };
  Builder(Settings settings, Logger log, Counters& counters, Misses& misses);

  // A kernel that is known to crash the compiler is not compiled again: its error (crash) is given at once.
  [[nodiscard]] Result<Built> build(const Source& source);
  // For a cubin of the cache's that the driver refuses to load: compiles it again and replaces the entry, unless
  // another process has done so or the compiler makes the same bytes.
  [[nodiscard]] Result<Built> rebuild(const Source& source, const Built& refused);
  // Where the source is known to crash the compiler.
  std::optional<CrashMemory::Crash> crash_of(const Source& source);
  CrashMemory& crashes() { return crashes_; }
  // Where no NVRTC is found: the key under which the cache has the source.
  [[nodiscard]] Result<Key> key(const Source& source);
  [[nodiscard]] Result<std::string> ptx(const Source& source);

  EngineCompiler& compiler() { return compiler_; }
  [[nodiscard]] Result<void> cache_writable();
  void add_cache_stats(CacheStats& stats);
  [[nodiscard]] Result<CacheExplanation> explain(const Source& source);

 private:
  [[nodiscard]] Result<Built> build_with(const compile::Location& found, const Source& source);
  [[nodiscard]] Result<Built> make(const Source& source, const Key& key, const std::string& identity, bool& compiled);
  [[nodiscard]] Result<Built> fetch(const Key& key);
  [[nodiscard]] Result<Built> take(const Key& key, cache::Lookup lookup);
  [[nodiscard]] Result<Built> compile(const Source& source, const Key& key, const std::string& identity);
  std::string likely_identity();
  [[nodiscard]] Result<Built> find_recorded(const Source& source, Error no_compiler);
  struct Explained {
    CacheExplanation explanation;
    bool complete = true;
  };
  Explained explain(const Source& source, const std::string& identity, std::chrono::steady_clock::time_point until);
  std::string differences(const Source& source, const std::string& identity);
  [[nodiscard]] Result<void> admit_without_compiler(const Source& source);
  bool publish(const Built& built, const Source& source, cache::Turn& turn);
  void warn_once(const std::string& what);

  static constexpr std::chrono::milliseconds kExplainingMax{250};  // of a sealed engine's miss

  const Settings settings_;
  const Logger log_;
  Counters& counters_;
  Misses& misses_;
  EngineCompiler compiler_;
  CrashMemory crashes_;
  std::optional<cache::Layers> cache_;  // none: the cache is off
  Memo<Key, Built> built_;
  std::atomic<bool> warned_ = false;
};

// What a cache entry holds beside the artifact: a line of JSON
// for `built_from`, and a line for tools: what the key was made of.
std::string metadata_of(const Artifact& artifact, const Source& source, std::string_view compiler);
std::string metadata_of(const Artifact& artifact, std::string_view kernel, std::string_view compiler,
                        const Fields& fields);
[[nodiscard]] Result<Built> built_from(cache::Entry entry, const Key& key);

}  // namespace tma_jit::engine
