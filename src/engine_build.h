// From CUDA text to a cubin by the shortest way: this process's memory, the cache folder, NVRTC.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <tma_jit/artifact.h>
#include <tma_jit/engine.h>

#include "base/log.h"
#include "base/memo.h"
#include "cache/layers.h"
#include "engine_compiler.h"
#include "engine_counters.h"
#include "engine_crashes.h"
#include "engine_misses.h"

namespace tma_jit {

// A cubin and who compiled it.
struct Built {
  std::shared_ptr<const Cubin> cubin;
  std::string compiler;
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
  Result<Built> build(const Source& source);
  // Where the source is known to crash the compiler.
  std::optional<CrashMemory::Crash> crash_of(const Source& source);
  CrashMemory& crashes() { return crashes_; }
  // Where no NVRTC is found: the key under which the cache has the source.
  Result<Key> key(const Source& source);
  Result<std::string> ptx(const Source& source);

  EngineCompiler& compiler() { return compiler_; }
  Result<void> cache_writable();
  void add_cache_stats(CacheStats& stats);
  Result<CacheExplanation> explain(const Source& source);

 private:
  Result<Built> make(const Source& source, const Key& key, const std::string& identity, bool& compiled);
  Result<Built> fetch(const Key& key);
  Result<Built> take(const Key& key, cache::Lookup lookup);
  Result<Built> compile(const Source& source, const Key& key, const std::string& identity);
  Result<std::string> likely_identity();
  Result<Built> find_recorded(const Source& source, Error no_compiler);
  std::string differences(const Source& source);
  bool publish(const Built& built, const Source& source, cache::Turn& turn);
  void warn_once(const std::string& what);

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

// What a cache entry holds beside the cubin: a line of JSON
// for `built_from`, and a line for tools: what the key was made of.
std::string metadata_of(const Cubin& cubin, const Source& source, std::string_view compiler);
Result<Built> built_from(cache::Entry entry, const Key& key);

}  // namespace tma_jit
