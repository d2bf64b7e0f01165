// Engines for C.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <tma_jit/compile_worker.h>
#include <tma_jit/json.h>

#include "c_api/c_handles.h"
#include "core/fields.h"

namespace {

using namespace tma_jit::c_api;
using tma_jit::CompilerOptions;
using tma_jit::Engine;
using tma_jit::LogLevel;
using tma_jit::Options;
using tma_jit::Result;
using tma_jit::Seal;
using tma_jit::TuningPolicy;

static_assert(static_cast<int>(LogLevel::trace) + 1 == TMA_JIT_LOG_TRACE);
static_assert(static_cast<int>(LogLevel::off) + 1 == TMA_JIT_LOG_OFF);
static_assert(static_cast<int>(CompilerOptions::Place::worker) == TMA_JIT_PLACE_WORKER);
static_assert(static_cast<int>(CompilerOptions::Place::in_process) == TMA_JIT_PLACE_IN_PROCESS);
static_assert(static_cast<int>(Seal::warn) == TMA_JIT_SEAL_WARN);
static_assert(static_cast<int>(Seal::refuse) == TMA_JIT_SEAL_REFUSE);
static_assert(static_cast<int>(TuningPolicy::off) + 1 == TMA_JIT_TUNING_OFF);
static_assert(static_cast<int>(TuningPolicy::background) + 1 == TMA_JIT_TUNING_BACKGROUND);

std::string text_or_empty(const char* text) {
  return text != nullptr ? text : "";
}

Result<void> set_log(const tma_jit_options& given, Options& options) {
  if (given.log_level < TMA_JIT_LOG_DEFAULT || given.log_level > TMA_JIT_LOG_OFF) {
    return invalid("tma_jit_options: log_level is " + std::to_string(given.log_level) + "; levels are 0 to 6");
  }
  if (given.log_level != TMA_JIT_LOG_DEFAULT) options.log_level = static_cast<LogLevel>(given.log_level - 1);
  if (given.log == nullptr) return {};
  options.log = [log = given.log, user = given.log_user](LogLevel level, std::string_view message) {
    log(static_cast<tma_jit_log_level>(level) + 1, std::string(message).c_str(), user);
  };
  return {};
}

// Converts a list of paths; `field` is its name in errors.
Result<std::vector<std::filesystem::path>> paths_in(const char* const* given, size_t count, const std::string& field) {
  std::vector<std::filesystem::path> paths;
  if (given == nullptr && count > 0) {
    return invalid("tma_jit_options: " + field + " is NULL and its count is " + std::to_string(count));
  }
  for (size_t i = 0; i < count; ++i) {
    if (given[i] == nullptr) return invalid("tma_jit_options: " + field + "[" + std::to_string(i) + "] is NULL");
    paths.emplace_back(given[i]);
  }
  return paths;
}

Result<void> set_folders(const tma_jit_options& given, Options& options) {
  auto templates = paths_in(given.template_dirs, given.template_dir_count, "template_dirs");
  if (!templates) return tl::make_unexpected(std::move(templates).error());
  auto read_only = paths_in(given.cache_read_only, given.cache_read_only_count, "cache_read_only");
  if (!read_only) return tl::make_unexpected(std::move(read_only).error());
  auto keys = paths_in(given.cache_pack_keys, given.cache_pack_key_count, "cache_pack_keys");
  if (!keys) return tl::make_unexpected(std::move(keys).error());
  auto records = paths_in(given.tuning_records, given.tuning_record_count, "tuning_records");
  if (!records) return tl::make_unexpected(std::move(records).error());
  options.template_dirs = *std::move(templates);
  options.tuning.records = *std::move(records);
  options.cache.read_only = *std::move(read_only);
  options.cache.pack_keys = *std::move(keys);
  return {};
}

// 0 keeps the default; TMA_JIT_NONE means no waiting.
Result<void> set_seconds(double given, const char* field, double& seconds) {
  if (given == TMA_JIT_NONE) {
    seconds = 0;
  } else if (!(given >= 0)) {
    return invalid("tma_jit_options: " + std::string(field) + " is " + std::to_string(given));
  } else if (given > 0) {
    seconds = given;
  }
  return {};
}

Result<void> set_remote(const tma_jit_options& given, tma_jit::RemoteOptions& remote) {
  using tma_jit::RemoteRole;
  remote.url = text_or_empty(given.remote);
  remote.sign_key = text_or_empty(given.remote_sign_key);
  const std::string role = text_or_empty(given.remote_role);
  if (role == "read-write") {
    remote.role = RemoteRole::read_write;
  } else if (role == "read-only") {
    remote.role = RemoteRole::read_only;
  } else if (role == "write-only") {
    remote.role = RemoteRole::write_only;
  } else if (!role.empty()) {
    return invalid("tma_jit_options: remote_role is \"" + role + "\"; it is read-write, read-only or write-only");
  }
  if (auto set = set_seconds(given.remote_wait_s, "remote_wait_s", remote.wait_s); !set) return set;
  return set_seconds(given.remote_flush_s, "remote_flush_s", remote.flush_s);
}

Result<void> set_cache(const tma_jit_options& given, Options& options) {
  options.cache_dir = text_or_empty(given.cache_dir);
  options.use_cache = given.no_cache == 0;
  options.cache.shared = given.cache_shared != 0;
  options.cache.node_dir = text_or_empty(given.cache_node_dir);
  if (given.cache_bytes != 0) options.cache.bytes = given.cache_bytes;
  if (given.cache_entries != 0) options.cache.entries = given.cache_entries;
  if (std::isnan(given.cache_wait_s)) return invalid("tma_jit_options: cache_wait_s is not a number");
  if (given.cache_wait_s == TMA_JIT_NONE) {
    options.cache.wait_s = 0;
  } else if (!(given.cache_wait_s >= 0)) {
    return invalid("tma_jit_options: cache_wait_s is " + std::to_string(given.cache_wait_s));
  } else if (given.cache_wait_s > 0) {
    options.cache.wait_s = given.cache_wait_s;
  }
  return set_remote(given, options.cache.remote);
}

// Converts to an enumeration of the C++ API whose values are the same as in C.
template <class Enum> Result<Enum> enum_of(int32_t value, int32_t last, const char* field) {
  if (value >= 0 && value <= last) return static_cast<Enum>(value);
  return invalid("tma_jit_options: " + std::string(field) + " is " + std::to_string(value) + "; it is 0 to " +
                 std::to_string(last));
}

Result<Seal> seal_of(tma_jit_seal seal) {
  return enum_of<Seal>(seal, TMA_JIT_SEAL_REFUSE, "seal");
}

// A time that cannot be represented means no limit.
std::chrono::milliseconds limit_of(double seconds) {
  constexpr double kCountable = 9e18;
  const double milliseconds = std::ceil(seconds * 1000);
  if (milliseconds > kCountable) return std::chrono::milliseconds::max();
  return std::chrono::milliseconds(std::llround(milliseconds));
}

Result<void> set_compiler(const tma_jit_options& given, CompilerOptions& options) {
  const auto place = enum_of<CompilerOptions::Place>(given.compiler_place, TMA_JIT_PLACE_IN_PROCESS, "compiler_place");
  if (!place) return tl::make_unexpected(place.error());
  if (given.compiler_workers < 0 || given.compiles_at_once < 0) {
    return invalid("tma_jit_options: compiler_workers is " + std::to_string(given.compiler_workers) +
                   " and compiles_at_once " + std::to_string(given.compiles_at_once) + "; neither may be negative");
  }
  const bool limited = given.compile_time_limit_s != TMA_JIT_NONE;
  if (limited && !(given.compile_time_limit_s >= 0)) {
    return invalid("tma_jit_options: compile_time_limit_s is " + std::to_string(given.compile_time_limit_s));
  }
  options.place = *place;
  options.worker = text_or_empty(given.compiler_worker);
  options.workers = given.compiler_workers;
  options.compiles_at_once = given.compiles_at_once;
  if (!limited) options.time_limit = std::chrono::milliseconds::max();
  if (given.compile_time_limit_s > 0) options.time_limit = limit_of(given.compile_time_limit_s);
  if (given.worker_memory_limit != 0) {
    options.memory_limit =
        given.worker_memory_limit == static_cast<uint64_t>(TMA_JIT_NONE) ? 0 : given.worker_memory_limit;
  }
  return {};
}

Result<void> set_misses(const tma_jit_options& given, Options& options) {
  const auto seal = seal_of(given.seal);
  if (!seal) return tl::make_unexpected(seal.error());
  options.seal = *seal;
  options.record_misses = text_or_empty(given.record_misses);
  options.record_requests = text_or_empty(given.record_requests);
  if (given.on_sealed_miss == nullptr) return {};
  options.on_sealed_miss = [call = given.on_sealed_miss, user = given.on_sealed_miss_user](const tma_jit::Miss& miss) {
    const std::string key = miss.key.hex();
    const tma_jit_miss shown{sizeof shown, miss.kernel.c_str(), miss.arch.c_str(), key.c_str(),
                             miss.explanation.c_str()};
    call(&shown, user);
  };
  return {};
}

Result<void> set_tuning(const tma_jit_options& given, tma_jit::TuningOptions& options) {
  const auto policy = enum_of<std::uint8_t>(given.tuning_policy, TMA_JIT_TUNING_BACKGROUND, "tuning_policy");
  if (!policy) return tl::make_unexpected(policy.error());
  if (*policy != TMA_JIT_TUNING_DEFAULT) options.policy = static_cast<TuningPolicy>(*policy - 1);
  if (auto set = set_seconds(given.tuning_budget_s, "tuning_budget_s", options.budget_s); !set) return set;
  if (!(given.tuning_device_share >= 0)) {
    return invalid("tma_jit_options: tuning_device_share is " + std::to_string(given.tuning_device_share));
  }
  if (given.tuning_device_share > 0) options.device_share = given.tuning_device_share;
  if (given.tuning_memory_bytes > 0) options.memory_bytes = given.tuning_memory_bytes;
  if (given.may_measure == nullptr) return {};
  options.may_measure = [call = given.may_measure, user = given.may_measure_user] { return call(user) != 0; };
  return {};
}

Result<Options> options_of(const tma_jit_options* from) {
  auto given = read_struct(from, "tma_jit_options");
  if (!given) return tl::make_unexpected(std::move(given).error());
  Options options;
  if (given->device != nullptr) {
    auto device = tma_jit::Device::parse(given->device);
    if (!device) return tl::make_unexpected(std::move(device).error());
    options.device = *std::move(device);
  }
  options.arch = text_or_empty(given->arch);
  options.nvrtc = text_or_empty(given->nvrtc);
  if (given->disable_tma != 0) options.disable_tma = true;
  options.line_info = given->line_info != 0;
  if (auto set = set_cache(*given, options); !set) return tl::make_unexpected(std::move(set).error());
  if (auto set = set_folders(*given, options); !set) return tl::make_unexpected(std::move(set).error());
  if (auto set = set_tuning(*given, options.tuning); !set) return tl::make_unexpected(std::move(set).error());
  if (auto set = set_compiler(*given, options.compiler); !set) return tl::make_unexpected(std::move(set).error());
  if (auto set = set_misses(*given, options); !set) return tl::make_unexpected(std::move(set).error());
  if (auto set = set_log(*given, options); !set) return tl::make_unexpected(std::move(set).error());
  if (given->limits != nullptr) {
    auto limits = read_struct(given->limits, "tma_jit_device_info");
    if (!limits) return tl::make_unexpected(std::move(limits).error());
    options.limits = device_of(*limits);
  }
  return options;
}

tma_jit_stats stats_of(const tma_jit::Stats& stats) {
  tma_jit_stats made{};
  const auto copy = [](const char*, auto& to, const auto& from) { to = from; };
  tma_jit::each_counter(copy, made, stats);
  tma_jit::each_cache_counter(copy, made, stats.cache);
  return made;
}

void append(std::string& list, const std::string& object) {
  if (!list.empty()) list += ',';
  list += object;
}

// An engine's constructor can report a failure only by an exception.
Result<Engine> make_engine(const tma_jit_options* given) {
  auto options = options_of(given);
  if (!options) return tl::make_unexpected(std::move(options).error());
  return Engine(*std::move(options));
}

}  // namespace

tma_jit_status tma_jit_engine_create(const tma_jit_options* options, tma_jit_engine** out, tma_jit_error** error) {
  return making(__func__, error, {}, out, handle_of<tma_jit_engine>([&] { return make_engine(options); }));
}

void tma_jit_engine_free(tma_jit_engine* engine) {
  delete engine;
}

tma_jit_status tma_jit_engine_add_template(tma_jit_engine* engine, const char* name, const char* text,
                                           tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}, {"name", name}, {"text", text}},
                 [&] { return engine->engine.add_template(name, text); });
}

tma_jit_status tma_jit_engine_add_template_file(tma_jit_engine* engine, const char* path, tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}, {"path", path}},
                 [&] { return engine->engine.add_template_file(path); });
}

tma_jit_status tma_jit_engine_seal(tma_jit_engine* engine, tma_jit_seal seal, tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}}, [&]() -> Result<void> {
    const auto wanted = seal_of(seal);
    if (!wanted) return tl::make_unexpected(wanted.error());
    engine->engine.seal(*wanted);
    return {};
  });
}

tma_jit_status tma_jit_engine_device(tma_jit_engine* engine, tma_jit_device_info* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}, {"out", out}}, [&]() -> Result<void> {
    const auto device = engine->engine.device();
    if (!device) return tl::make_unexpected(device.error());
    return write_struct(device_info_of(*device), out, "tma_jit_device_info");
  });
}

tma_jit_status tma_jit_engine_stats(tma_jit_engine* engine, tma_jit_stats* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}, {"out", out}},
                 [&] { return write_struct(stats_of(engine->engine.stats()), out, "tma_jit_stats"); });
}

const char* tma_jit_engine_cache_dir(const tma_jit_engine* engine) {
  return engine != nullptr ? engine->cache_dir.c_str() : nullptr;
}

tma_jit_status tma_jit_engine_environment_json(tma_jit_engine* engine, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}}, out,
                string_of([&]() -> Result<std::string> { return tma_jit::json_of(engine->engine.environment()); }));
}

tma_jit_status tma_jit_engine_kernels_json(tma_jit_engine* engine, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}}, out, string_of([&]() -> Result<std::string> {
                  std::string kernels;
                  std::string faults;
                  for (const auto& kernel : engine->engine.kernels()) {
                    append(kernel ? kernels : faults,
                           kernel ? tma_jit::json_of(*kernel) : tma_jit::json_of(kernel.error()));
                  }
                  return "{\"kernels\":[" + kernels + "],\"faults\":[" + faults + "]}";
                }));
}

int32_t tma_jit_run_compile_worker(int32_t argc, char** argv) {
  if (argv == nullptr) return -1;
  try {
    return tma_jit::run_compile_worker(argc, argv).value_or(-1);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return 1;
  }
}
