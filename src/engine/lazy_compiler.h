// An engine's compiler: locates NVRTC and runs it in a worker or in this process, from the first compile on.
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
    CompilerOptions options;               // with the environment's settings applied
    std::vector<std::string> environment;  // environment variables of the workers
    std::filesystem::path cache_dir;       // folder for reproducers; empty: the temporary folder
  };
  EngineCompiler(Settings settings, Logger log) : settings_(std::move(settings)), log_(std::move(log)) {}

  [[nodiscard]] Result<compile::Location> location();
  [[nodiscard]] Result<std::shared_ptr<compile::Compiler>> open();
  // `identity` is the one in the key. Fails (nvrtc) if another NVRTC was loaded because its files have been replaced;
  // location() then has the new identity. The error of a crash also names the file with the saved source and the
  // command that compiles it.
  [[nodiscard]] Result<Artifact> compile(const Source& source, const Key& key, const std::string& identity);
  // Has one more worker start, if there may be one; a fault of it is for the next compile.
  void ready_worker();
  void add_to(Stats& stats);

 private:
  [[nodiscard]] Result<std::shared_ptr<compile::Runner>> start(const compile::Location& found);
  [[nodiscard]] Result<std::shared_ptr<compile::Runner>> run_here(const compile::Location& found) const;
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
