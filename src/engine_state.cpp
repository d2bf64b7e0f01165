#include "engine_state.h"

#include <cstdlib>

#include <tma_jit/cache.h>

#include "base/failure.h"
#include "base/process.h"
#include "base/profile.h"
#include "base/text.h"

namespace tma_jit {
namespace {

std::string environment_value(const char* name) {
  const char* value = ::secure_getenv(name);
  return value != nullptr ? value : "";
}

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::trace: return spdlog::level::trace;
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
    case LogLevel::off: return spdlog::level::off;
  }
  return spdlog::level::warn;
}

LogLevel level_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace: return LogLevel::trace;
    case spdlog::level::debug: return LogLevel::debug;
    case spdlog::level::info: return LogLevel::info;
    case spdlog::level::warn: return LogLevel::warning;
    default: return LogLevel::error;
  }
}

LogSink sink_of(const LogCallback& callback) {
  if (!callback) return {};
  return [callback](spdlog::level::level_enum level, std::string_view message) { callback(level_of(level), message); };
}

std::vector<std::filesystem::path> paths_in(const char* variable) {
  std::vector<std::filesystem::path> paths;
  const std::string listed = environment_value(variable);
  for (const std::string_view path : split(listed, ':')) {
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

Builder::Settings builder_settings(const Options& options) {
  const CacheOptions& cache = options.cache;
  const bool use_cache = options.use_cache && (!options.cache_dir.empty() || !cache.read_only.empty());
  return {.use_cache = use_cache,
          .cache = {.root = options.cache_dir,
                    .node = cache.node_dir,
                    .read_only = cache.read_only,
                    .pack_keys = cache.pack_keys,
                    .store = {.limits = {.bytes = cache.bytes, .entries = cache.entries}},
                    .wait = std::chrono::milliseconds(static_cast<std::int64_t>(cache.wait_s * 1000))},
          .compiler = {.places = compile::Places::from_environment(options.nvrtc),
                       .options = options.compiler,
                       .environment = environment_words(),
                       .cache_dir = use_cache ? options.cache_dir : std::filesystem::path()}};
}

// Only what the options leave open. A word that is neither is as good as none: the default is the safe one.
CompilerOptions resolved(CompilerOptions options) {
  const std::string place = environment_value("TMA_JIT_COMPILER");
  if (options.place == CompilerOptions::Place::automatic) {
    if (place == "inproc") options.place = CompilerOptions::Place::in_process;
    if (place == "worker") options.place = CompilerOptions::Place::worker;
  }
  if (options.worker.empty()) options.worker = environment_value("TMA_JIT_WORKER");
  return options;
}

}  // namespace

Options resolved(Options options) {
  if (options.cache_dir.empty()) options.cache_dir = default_cache_dir();
  options.compiler = resolved(std::move(options.compiler));
  if (options.record_misses.empty()) options.record_misses = environment_value("TMA_JIT_RECORD_MISSES");
  if (options.nvrtc.empty()) options.nvrtc = environment_value("TMA_JIT_NVRTC");
  if (options.template_dirs.empty()) options.template_dirs = paths_in("TMA_JIT_TEMPLATES");
  if (options.cache.read_only.empty()) options.cache.read_only = paths_in("TMA_JIT_CACHE_RO");
  if (options.cache.pack_keys.empty()) options.cache.pack_keys = paths_in("TMA_JIT_PACK_KEYS");
  if (const std::string disabled = environment_value("TMA_JIT_DISABLE_TMA"); !disabled.empty() && disabled != "0") {
    options.disable_tma = true;
  }
  return options;
}

Engine::State::State(Options given, driver::Provider provider)
    : options(resolved(std::move(given))),
      log(make_logger(level_of(options.log_level), sink_of(options.log))),
      templates(options.template_dirs),
      device(options, std::move(provider)),
      misses(options, log, counters),
      builder(builder_settings(options), log, counters, misses) {
  profile::attach();
  device.report_emulation(log);
}

}  // namespace tma_jit
