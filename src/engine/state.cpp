#include "engine/state.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/duration.h"
#include "base/profile.h"
#include "cache/carried_records.h"
#include "cache/default_folder.h"
#include "cache/remote_options.h"
#include "core/caller_function.h"
#include "core/failure.h"

namespace tma_jit {
namespace {

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
  return [callback](spdlog::level::level_enum level, std::string_view message) {
    call_caller([&] { callback(level_of(level), message); });
  };
}

cache::RemoteSettings remote_settings(const CacheOptions& cache) {
  const RemoteOptions& remote = cache.remote;
  return {.address = cache::address_of(remote),
          .role = remote.role.value_or(RemoteRole::read_write),
          .wait = milliseconds_of(std::isnan(remote.wait_s) ? RemoteOptions().wait_s : remote.wait_s),
          .flush = milliseconds_of(std::isnan(remote.flush_s) ? RemoteOptions().flush_s : remote.flush_s),
          .sign_key = remote.sign_key,
          .keys = cache.pack_keys};
}

engine::Builder::Settings builder_settings(const Options& options, const ProcessEnvironment& environment) {
  const CacheOptions& cache = options.cache;
  const bool use_cache =
      options.use_cache && (!options.cache_dir.empty() || !cache.read_only.empty() || !cache.remote.url.empty());
  return {.use_cache = use_cache,
          .cache = {.root = options.cache_dir,
                    .node = cache.node_dir,
                    .runtime_dir = environment.xdg_runtime_dir,
                    .read_only = cache.read_only,
                    .pack_keys = cache.pack_keys,
                    .remote = remote_settings(cache),
                    .is_usable = {},
                    .store = {.limits = {.bytes = cache.bytes, .entries = cache.entries}, .shared = cache.shared},
                    .wait = milliseconds_of(cache.wait_s)},
          .compiler = {.places = compile::Places::usual(environment, options.nvrtc, options.nvrtc_dirs),
                       .options = options.compiler,
                       .environment = environment.words,
                       .cache_dir = use_cache ? options.cache_dir : std::filesystem::path()}};
}

// Any other word counts as unset, because the default is the safe choice.
CompilerOptions resolved(CompilerOptions options, const ProcessEnvironment& environment) {
  if (options.place == CompilerOptions::Place::automatic) {
    if (environment.compiler == "inproc") options.place = CompilerOptions::Place::in_process;
    if (environment.compiler == "worker") options.place = CompilerOptions::Place::worker;
  }
  if (options.worker.empty()) options.worker = environment.worker;
  return options;
}

bool disables_tma(const ProcessEnvironment& environment) {
  return !environment.disable_tma.empty() && environment.disable_tma != "0";
}

// Any other word counts as unset.
TuningPolicy policy_in(const ProcessEnvironment& environment) {
  if (environment.tuning == "off") return TuningPolicy::off;
  if (environment.tuning == "at-start") return TuningPolicy::at_start;
  if (environment.tuning == "background") return TuningPolicy::background;
  return TuningPolicy::records;
}

// Warns of words that count as another one.
void warn_of_words(const ProcessEnvironment& environment, const Logger& log) {
  const auto check = [&](const char* name, const std::string& word, std::initializer_list<std::string_view> known,
                         const char* then) {
    if (word.empty() || std::ranges::find(known, word) != known.end()) return;
    log->warn("{} is \"{}\", which is none of {}; {}", name, word, fmt::join(known.begin(), known.end(), ", "), then);
  };
  check("TMA_JIT_COMPILER", environment.compiler, {"worker", "inproc"}, "it counts as unset");
  check("TMA_JIT_TUNING", environment.tuning, {"off", "records", "at-start", "background"}, "it counts as unset");
  check("TMA_JIT_REMOTE_ROLE", environment.remote.role, {"read-write", "read-only", "write-only"},
        "it counts as read-only");
}

// Fills unset options from the environment.
Options resolved(Options options, const ProcessEnvironment& environment) {
  if (options.cache_dir.empty()) options.cache_dir = cache::default_folder(environment);
  options.compiler = resolved(std::move(options.compiler), environment);
  if (options.record_misses.empty()) options.record_misses = environment.record_misses;
  if (options.record_requests.empty()) options.record_requests = environment.record_requests;
  if (options.nvrtc.empty()) options.nvrtc = environment.nvrtc;
  if (options.template_dirs.empty()) options.template_dirs = environment.templates;
  if (options.cache.read_only.empty()) options.cache.read_only = environment.cache_read_only;
  if (options.cache.pack_keys.empty()) options.cache.pack_keys = environment.pack_keys;
  cache::resolve(options.cache.remote, environment.remote);
  if (std::isnan(options.cache.wait_s)) options.cache.wait_s = CacheOptions().wait_s;
  if (!options.disable_tma) options.disable_tma = disables_tma(environment);
  if (options.tuning.records.empty()) options.tuning.records = environment.tuned;
  if (!options.tuning.policy) options.tuning.policy = policy_in(environment);
  return options;
}

std::filesystem::path user_records(const Options& options) {
  return options.use_cache && !options.cache_dir.empty() ? options.cache_dir / cache::kRecordsFile
                                                         : std::filesystem::path();
}

}  // namespace

Engine::State::State(Options given, driver::Provider provider, const ProcessEnvironment& environment)
    : tma_disabled(disables_tma(environment)),
      options(resolved(std::move(given), environment)),
      log(make_logger(level_of(options.log_level), sink_of(options.log))),
      templates(options.template_dirs),
      device(options, environment.emulator, std::move(provider), log),
      records(
          options.tuning, user_records(options), [this] { return builder.carried_records(); }, log),
      misses(options, log, counters),
      asked(options.record_requests, log),
      builder(builder_settings(options, environment), log, counters, misses),
      live_tuning(*this) {
  profile::attach();
  warn_of_words(environment, log);
}

}  // namespace tma_jit
