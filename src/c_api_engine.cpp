// Engines and the cache folder for C.
#include <algorithm>

#include <tma_jit/cache.h>
#include <tma_jit/json.h>

#include "c_api.h"

namespace {

using namespace tma_jit::c_api;
using tma_jit::Engine;
using tma_jit::LogLevel;
using tma_jit::Options;
using tma_jit::Result;

static_assert(static_cast<int>(LogLevel::trace) + 1 == TMA_JIT_LOG_TRACE);
static_assert(static_cast<int>(LogLevel::off) + 1 == TMA_JIT_LOG_OFF);

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

// A list of paths; `field` is what an error calls it.
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
  options.template_dirs = *std::move(templates);
  options.cache.read_only = *std::move(read_only);
  options.cache.pack_keys = *std::move(keys);
  return {};
}

void set_cache(const tma_jit_options& given, Options& options) {
  options.cache_dir = text_or_empty(given.cache_dir);
  options.use_cache = given.no_cache == 0;
  options.cache.node_dir = text_or_empty(given.cache_node_dir);
  if (given.cache_bytes != 0) options.cache.bytes = given.cache_bytes;
  if (given.cache_entries != 0) options.cache.entries = given.cache_entries;
  if (given.cache_wait_s != 0) options.cache.wait_s = std::max(given.cache_wait_s, 0.0);
}

Result<Options> options_of(const tma_jit_options* from) {
  auto given = read_struct(from, "tma_jit_options");
  if (!given) return tl::make_unexpected(std::move(given).error());
  Options options;
  if (given->device != nullptr) options.device = given->device;
  options.arch = text_or_empty(given->arch);
  options.nvrtc = text_or_empty(given->nvrtc);
  options.disable_tma = given->disable_tma != 0;
  options.line_info = given->line_info != 0;
  set_cache(*given, options);
  if (auto set = set_folders(*given, options); !set) return tl::make_unexpected(std::move(set).error());
  if (auto set = set_log(*given, options); !set) return tl::make_unexpected(std::move(set).error());
  if (given->limits != nullptr) {
    auto limits = read_struct(given->limits, "tma_jit_device_info");
    if (!limits) return tl::make_unexpected(std::move(limits).error());
    options.limits = device_of(*limits);
  }
  return options;
}

tma_jit_stats stats_of(const tma_jit::Stats& stats) {
  return {0,
          stats.plans,
          stats.compiles,
          stats.compile_failures,
          stats.memory_hits,
          stats.disk_hits,
          stats.disk_misses,
          stats.disk_faults,
          stats.disk_writes,
          stats.disk_write_failures,
          stats.loads,
          stats.compile_ms,
          stats.cache.unreadable,
          stats.cache.untrusted,
          stats.cache.other_format,
          stats.cache.corrupt,
          stats.cache.wrong_key,
          stats.cache.healed,
          stats.cache.node_hits,
          stats.cache.read_only_hits,
          stats.cache.waits,
          stats.cache.wait_timeouts,
          stats.cache.lockless,
          stats.cache.evicted};
}

void append(std::string& list, const std::string& object) {
  if (!list.empty()) list += ',';
  list += object;
}

// An engine's constructor cannot fail but by exception.
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

tma_jit_status tma_jit_default_cache_dir(char** out, tma_jit_error** error) {
  return making(__func__, error, {}, out,
                string_of([&]() -> Result<std::string> { return tma_jit::default_cache_dir().string(); }));
}

tma_jit_status tma_jit_cache_stat(const char* root, tma_jit_cache_summary* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"root", root}, {"out", out}}, [&]() -> Result<void> {
    const auto found = tma_jit::cache_stat(root);
    if (!found) return tl::make_unexpected(found.error());
    return write_struct({0, found->entries, found->bytes, found->faulty, found->temporary_files}, out,
                        "tma_jit_cache_summary");
  });
}

tma_jit_status tma_jit_cache_verify_json(const char* root, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"root", root}}, out, string_of([&]() -> Result<std::string> {
                  const auto entries = tma_jit::cache_verify(root);
                  if (!entries) return tl::make_unexpected(entries.error());
                  std::string list;
                  for (const auto& entry : *entries) append(list, tma_jit::json_of(entry));
                  return "[" + list + "]";
                }));
}

tma_jit_status tma_jit_cache_clear(const char* root, uint64_t* removed, tma_jit_error** error) {
  return guarded(__func__, error, {{"root", root}}, [&]() -> Result<void> {
    const auto count = tma_jit::cache_clear(root);
    if (!count) return tl::make_unexpected(count.error());
    if (removed != nullptr) *removed = *count;
    return {};
  });
}
