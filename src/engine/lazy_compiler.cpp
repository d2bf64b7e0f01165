#include "engine/lazy_compiler.h"

#include <unistd.h>

#include "base/patience.h"
#include "base/text.h"
#include "cache/crash_files.h"
#include "compile/bounded_runner.h"
#include "compile/find_worker.h"
#include "compile/reproducer.h"
#include "core/failure.h"

namespace tma_jit::engine {
namespace {

using Place = CompilerOptions::Place;

constexpr std::chrono::seconds kPatience{10};  // for a folder that may be on a file server

std::vector<std::string> worker_words(const compile::Location& found, std::uint64_t memory_limit, int slots) {
  return {std::string(compile::kWorkerFlag), "--nvrtc", found.path.string(),  "--memory",
          std::to_string(memory_limit),      "--slots", std::to_string(slots)};
}

}  // namespace

Result<compile::Location> EngineCompiler::location() {
  const std::lock_guard lock(location_mutex_);
  if (!location_) {
    TMA_JIT_ASSIGN(location_, compile::locate(settings_.places));
    log_->debug("NVRTC is {}", location_->path.string());
  }
  return *location_;
}

Result<std::shared_ptr<compile::Compiler>> EngineCompiler::open() {
  TMA_JIT_ASSIGN(const compile::Location found, location());
  const std::lock_guard lock(open_mutex_);
  if (runner_ == nullptr) {
    TMA_JIT_ASSIGN(runner_, start(found));
    compiler_ = compile::Compiler::over(found, runner_);
    const std::string& loaded = runner_->facts().identity;
    if (!loaded.empty() && loaded != found.identity) adopt(loaded);
  }
  return compiler_;
}

// The caller holds open_mutex_.
void EngineCompiler::adopt(const std::string& identity) {
  const std::lock_guard lock(location_mutex_);
  log_->warn("{} was replaced while this program runs: from now on, its kernels are those of {}",
             location_->path.string(), identity);
  location_->identity = identity;
  compiler_ = compile::Compiler::over(*location_, runner_);
}

compile::WorkerPool::Settings EngineCompiler::pool_settings(const compile::Location& found,
                                                            const std::filesystem::path& program) {
  const CompilerOptions& options = settings_.options;
  compile::WorkerPool::Settings pool;
  pool.worker.command = {program, worker_words(found, options.memory_limit, options.compiles_at_once),
                         settings_.environment};
  pool.worker.compile_limit = options.time_limit;
  pool.workers = options.workers;
  pool.memory_bytes = options.memory_limit;
  pool.warn = [log = log_](const std::string& what) { log->warn("{}", what); };
  return pool;
}

// Skips worker programs that cannot be started. If NVRTC itself fails, in a worker or in this process, returns that
// error.
Result<std::shared_ptr<compile::Runner>> EngineCompiler::start(const compile::Location& found) {
  const CompilerOptions& options = settings_.options;
  if (options.place == Place::in_process) return run_here(found);
  std::vector<std::string> tried;
  std::vector<std::filesystem::path> looked;
  for (const std::filesystem::path& program : compile::worker_programs(options.worker, &looked)) {
    if (const auto trusted = compile::check_worker_place(program); !trusted) {
      tried.push_back(fmt::format("{}: it is not started: {}", program.string(), trusted.error().message));
      continue;
    }
    auto pool = compile::WorkerPool::open(pool_settings(found, program));
    if (pool) {
      pool_ = *pool;
      return pool_;
    }
    compile::WorkerFailure fault = std::move(pool).error();
    if (fault.kind == compile::WorkerFailure::Kind::unable) return tl::make_unexpected(std::move(fault.error));
    tried.push_back(fmt::format("{}: {}{}{}", program.string(), fault.text, fault.log.empty() ? "" : ": ", fault.log));
  }
  for (const std::filesystem::path& path : looked) tried.push_back(fmt::format("{}: not there", path.string()));
  if (options.place == Place::worker || !options.worker.empty()) {
    return tl::make_unexpected(Error{ErrorCode::nvrtc, "no compile worker can be started", joined(tried, "\n")});
  }
  log_->warn(
      "NVRTC runs in this process, for no compile worker (tma-jit-cc) can be started: a crash of the compiler would be "
      "this program's. Install tma-jit-cc beside the program or name it in TMA_JIT_WORKER, or accept this with "
      "TMA_JIT_COMPILER=inproc. Tried {}",
      joined(tried, "; "));
  return run_here(found);
}

Result<std::shared_ptr<compile::Runner>> EngineCompiler::run_here(const compile::Location& found) const {
  TMA_JIT_ASSIGN(auto runner, compile::run_in_process(found.path));
  return compile::bounded(settings_.options.workers, std::move(runner));
}

Result<Artifact> EngineCompiler::compile(const Source& source, const Key& key, const std::string& identity) {
  TMA_JIT_ASSIGN(const auto compiler, open());
  if (compiler->location().identity != identity) {
    return failure(ErrorCode::nvrtc, "NVRTC was replaced: the kernel's key is of {}, and {} is loaded", identity,
                   compiler->location().identity);
  }
  auto artifact = compiler->compile(source);
  if (const auto replacement = compiler->replacement()) {
    const std::lock_guard lock(open_mutex_);
    if (compiler_ == compiler) adopt(*replacement);
  }
  if (!artifact && artifact.error().code == ErrorCode::crash) save(*compiler, source, key, artifact.error());
  return artifact;
}

void EngineCompiler::save(const compile::Compiler& compiler, const Source& source, const Key& key, Error& error) {
  const compile::Reproducer crash{
      source,          compiler.options(source), error.message, compiler.location().identity, compiler.location().path,
      compiler.place()};
  std::vector<std::filesystem::path> folders;
  if (!settings_.cache_dir.empty()) folders.push_back(settings_.cache_dir / cache::kCrashFolder);
  std::error_code none;
  folders.push_back(std::filesystem::temp_directory_path(none) / fmt::format("tma-jit-crashes-{}", ::geteuid()));
  for (const std::filesystem::path& folder : folders) {
    const auto answer =
        Patience(kPatience).within([folder, crash, key] { return compile::save_reproducer(folder, crash, key); });
    if (!answer) continue;  // a file server does not answer
    const auto& saved = *answer;
    if (!error.detail.empty()) error.detail += '\n';
    if (!saved) {
      error.detail += "the source was not saved: " + saved.error().message;
      continue;
    }
    error.detail += fmt::format("the source is {}; this compiles it again:\n{}", saved->string(),
                                compile::reproducing_command(crash, *saved));
    return;
  }
}

void EngineCompiler::ready_worker() {
  if (!open()) return;
  std::shared_ptr<compile::WorkerPool> pool;
  {
    const std::lock_guard lock(open_mutex_);
    pool = pool_;
  }
  if (pool != nullptr) pool->make_ready();
}

void EngineCompiler::add_to(Stats& stats) {
  const std::lock_guard lock(open_mutex_);
  if (pool_ == nullptr) return;
  const auto counts = pool_->counts();
  stats.workers_started = counts.started;
  stats.workers_lost = counts.lost;
}

}  // namespace tma_jit::engine
