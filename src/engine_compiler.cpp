#include "engine_compiler.h"

#include <unistd.h>

#include "base/failure.h"
#include "base/text.h"
#include "cache/crash_files.h"
#include "compile/at_most.h"
#include "compile/find_worker.h"
#include "compile/reproducer.h"

namespace tma_jit {
namespace {

using Place = CompilerOptions::Place;

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
  if (compiler_ == nullptr) {
    TMA_JIT_ASSIGN(auto runner, start(found));
    compiler_ = compile::Compiler::over(found, std::move(runner));
  }
  return compiler_;
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

// Programs that cannot be started are passed over; NVRTC's own refusal is the answer, here as in a worker.
Result<std::shared_ptr<compile::Runner>> EngineCompiler::start(const compile::Location& found) {
  const CompilerOptions& options = settings_.options;
  if (options.place == Place::in_process) return run_here(found);
  std::vector<std::string> tried;
  std::vector<std::filesystem::path> looked;
  for (const std::filesystem::path& program : compile::worker_programs(options.worker, &looked)) {
    auto pool = compile::WorkerPool::open(pool_settings(found, program));
    if (pool) {
      pool_ = *pool;
      return pool_;
    }
    compile::Casualty fault = std::move(pool).error();
    if (fault.kind == compile::Casualty::Kind::unable) return tl::make_unexpected(std::move(fault.error));
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

Result<std::shared_ptr<compile::Runner>> EngineCompiler::run_here(const compile::Location& found) {
  TMA_JIT_ASSIGN(auto runner, compile::run_in_process(found.path));
  return compile::at_most(settings_.options.workers, std::move(runner));
}

Result<Cubin> EngineCompiler::compile(const Source& source, const Key& key) {
  TMA_JIT_ASSIGN(const auto compiler, open());
  auto cubin = compiler->compile(source);
  if (!cubin && cubin.error().code == ErrorCode::crash) save(*compiler, source, key, cubin.error());
  return cubin;
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
    const auto saved = compile::save_reproducer(folder, crash, key);
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

void EngineCompiler::add_to(Stats& stats) {
  const std::lock_guard lock(open_mutex_);
  if (pool_ == nullptr) return;
  const auto counts = pool_->counts();
  stats.workers_started = counts.started;
  stats.workers_lost = counts.lost;
}

}  // namespace tma_jit
