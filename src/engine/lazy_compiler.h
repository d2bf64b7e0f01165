// An engine's compiler: NVRTC found, and run in a worker or in this process; started by the first compile.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tma_jit/engine.h>

#include "base/log.h"
#include "compile/compiler.h"
#include "compile/locate.h"
#include "compile/worker_pool.h"

namespace tma_jit::engine {

// Thread-safe.
class EngineCompiler {
 public:
  struct Settings {
    compile::Places places;
    CompilerOptions options;               // resolved: what the environment says is in them
    std::vector<std::string> environment;  // of workers
    std::filesystem::path cache_dir;       // reproducers are kept there; empty: in the temporary folder
  };
  EngineCompiler(Settings settings, Logger log) : settings_(std::move(settings)), log_(std::move(log)) {}

  [[nodiscard]] Result<compile::Location> location();
  [[nodiscard]] Result<std::shared_ptr<compile::Compiler>> open();
  // `identity` is the one in the key. Fails (nvrtc) where another NVRTC was loaded, as its files were replaced since:
  // location() has the other's identity from then on. A crash's error also says where the source was saved, and the
  // command that compiles it.
  [[nodiscard]] Result<Artifact> compile(const Source& source, const Key& key, const std::string& identity);
  void add_to(Stats& stats);

 private:
  [[nodiscard]] Result<std::shared_ptr<compile::Runner>> start(const compile::Location& found);
  [[nodiscard]] Result<std::shared_ptr<compile::Runner>> run_here(const compile::Location& found);
  compile::WorkerPool::Settings pool_settings(const compile::Location& found, const std::filesystem::path& program);
  void adopt(const std::string& identity);
  void save(const compile::Compiler& compiler, const Source& source, const Key& key, Error& error);

  const Settings settings_;
  const Logger log_;
  std::mutex location_mutex_;
  std::optional<compile::Location> location_;
  std::mutex open_mutex_;
  std::shared_ptr<compile::Runner> runner_;
  std::shared_ptr<compile::Compiler> compiler_;
  std::shared_ptr<compile::WorkerPool> pool_;
};

}  // namespace tma_jit::engine
