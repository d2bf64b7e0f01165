#include "c_api/c_options.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

namespace tma_jit::c_api {
namespace {

using Paths = std::vector<std::filesystem::path>;

static_assert(static_cast<int>(LogLevel::trace) + 1 == TMA_JIT_LOG_TRACE);
static_assert(static_cast<int>(LogLevel::off) + 1 == TMA_JIT_LOG_OFF);
static_assert(static_cast<int>(CompilerOptions::Place::worker) == TMA_JIT_PLACE_WORKER);
static_assert(static_cast<int>(CompilerOptions::Place::in_process) == TMA_JIT_PLACE_IN_PROCESS);
static_assert(static_cast<int>(Seal::warn) == TMA_JIT_SEAL_WARN);
static_assert(static_cast<int>(Seal::refuse) == TMA_JIT_SEAL_REFUSE);
static_assert(static_cast<int>(TuningPolicy::off) + 1 == TMA_JIT_TUNING_OFF);
static_assert(static_cast<int>(TuningPolicy::background) + 1 == TMA_JIT_TUNING_BACKGROUND);

// A list of `count` paths.
struct List {
  const char* const* paths;
  std::size_t count;
};

// A value of an enumeration from 0 to `last`. If 0 stands for the default, the others are one more than in C++.
struct Choice {
  int32_t value, last;
  bool has_default;
};

// The fields that are converted by their types alone. Every field is written here once; `visit` gets its name, C's
// value and C++'s.
template <class Visit> void each_option(Visit&& visit, const tma_jit_options& c, Options& options) {
  CacheOptions& cache = options.cache;
  CompilerOptions& compiler = options.compiler;
  TuningOptions& tuning = options.tuning;
  visit("arch", c.arch, options.arch);
  visit("nvrtc", c.nvrtc, options.nvrtc);
  visit("template_dirs", List{c.template_dirs, c.template_dir_count}, options.template_dirs);
  visit("disable_tma", c.disable_tma, options.disable_tma);
  visit("line_info", c.line_info, options.line_info);
  visit("log_level", Choice{c.log_level, TMA_JIT_LOG_OFF, true}, options.log_level);
  visit("seal", Choice{c.seal, TMA_JIT_SEAL_REFUSE, false}, options.seal);
  visit("record_misses", c.record_misses, options.record_misses);
  visit("record_requests", c.record_requests, options.record_requests);
  visit("cache_dir", c.cache_dir, options.cache_dir);
  visit("cache_bytes", c.cache_bytes, cache.bytes);
  visit("cache_entries", c.cache_entries, cache.entries);
  visit("cache_read_only", List{c.cache_read_only, c.cache_read_only_count}, cache.read_only);
  visit("cache_pack_keys", List{c.cache_pack_keys, c.cache_pack_key_count}, cache.pack_keys);
  visit("cache_node_dir", c.cache_node_dir, cache.node_dir);
  visit("cache_wait_s", c.cache_wait_s, cache.wait_s);
  visit("cache_shared", c.cache_shared, cache.shared);
  visit("remote", c.remote, cache.remote.url);
  visit("remote_role", c.remote_role, cache.remote.role);
  visit("remote_sign_key", c.remote_sign_key, cache.remote.sign_key);
  visit("remote_wait_s", c.remote_wait_s, cache.remote.wait_s);
  visit("remote_flush_s", c.remote_flush_s, cache.remote.flush_s);
  visit("compiler_place", Choice{c.compiler_place, TMA_JIT_PLACE_IN_PROCESS, false}, compiler.place);
  visit("compiler_worker", c.compiler_worker, compiler.worker);
  visit("compiler_workers", c.compiler_workers, compiler.workers);
  visit("compiles_at_once", c.compiles_at_once, compiler.compiles_at_once);
  visit("compile_time_limit_s", c.compile_time_limit_s, compiler.time_limit);
  visit("worker_memory_limit", c.worker_memory_limit, compiler.memory_limit);
  visit("tuning_policy", Choice{c.tuning_policy, TMA_JIT_TUNING_BACKGROUND, true}, tuning.policy);
  visit("tuning_records", List{c.tuning_records, c.tuning_record_count}, tuning.records);
  visit("tuning_budget_s", c.tuning_budget_s, tuning.budget_s);
  visit("tuning_memory_bytes", c.tuning_memory_bytes, tuning.memory_bytes);
}

// A time that cannot be represented means no limit.
std::chrono::milliseconds limit_of(double seconds) {
  constexpr double kCountable = 9e18;
  const double milliseconds = std::ceil(seconds * 1000);
  if (milliseconds > kCountable) return std::chrono::milliseconds::max();
  return std::chrono::milliseconds(std::llround(milliseconds));
}

std::string shown(double number) {
  return std::isnan(number) ? "not a number" : std::to_string(number);
}

// Takes the fields that are set, and keeps the first refusal of a value.
class Taker {
 public:
  void operator()(const char*, const char* text, auto& to) {
    if (text != nullptr) to = text;
  }
  void operator()(const char* name, const char* text, std::optional<RemoteRole>& to) {
    const std::string_view role = text != nullptr ? text : "";
    if (role == "read-write") to = RemoteRole::read_write;
    if (role == "read-only") to = RemoteRole::read_only;
    if (role == "write-only") to = RemoteRole::write_only;
    if (!role.empty() && !to) refuse(name, "\"" + std::string(role) + "\"; it is read-write, read-only or write-only");
  }
  void operator()(const char*, int32_t flag, bool& to) { to = flag != 0; }
  void operator()(const char*, int32_t flag, std::optional<bool>& to) {
    if (flag != 0) to = true;
  }
  void operator()(const char* name, int32_t count, int& to) {
    if (count < 0) refuse(name, std::to_string(count) + "; it may not be negative");
    to = count;
  }
  void operator()(const char*, uint64_t amount, uint64_t& to) {
    if (amount != 0) to = amount;
  }

  // TMA_JIT_NONE means no waiting.
  void operator()(const char* name, double seconds, double& to) {
    if (!(seconds >= 0) && seconds != TMA_JIT_NONE) refuse(name, shown(seconds));
    if (seconds != 0) to = std::max(seconds, 0.0);
  }
  // TMA_JIT_NONE means no limit.
  void operator()(const char* name, double seconds, std::chrono::milliseconds& to) {
    double limit = 0;
    (*this)(name, seconds, limit);
    if (limit > 0) to = limit_of(limit);
    if (seconds == TMA_JIT_NONE) to = std::chrono::milliseconds::max();
  }

  template <class Enum> void operator()(const char* name, Choice choice, Enum& to) {
    const auto [value, last, has_default] = choice;
    if (value < 0 || value > last) return refuse(name, std::to_string(value) + "; it is 0 to " + std::to_string(last));
    if (value != 0 || !has_default) to = static_cast<Enum>(has_default ? value - 1 : value);
  }
  template <class Enum> void operator()(const char* name, Choice choice, std::optional<Enum>& to) {
    if (choice.value != 0) (*this)(name, choice, to.emplace());
  }

  void operator()(const std::string& name, List list, Paths& to) {
    if (list.paths == nullptr && list.count > 0) {
      return refuse(name, "NULL and its count is " + std::to_string(list.count));
    }
    for (std::size_t i = 0; i < list.count; ++i) {
      if (list.paths[i] == nullptr) return refuse(name + "[" + std::to_string(i) + "]", "NULL");
      to.emplace_back(list.paths[i]);
    }
  }

  void refuse(const std::string& name, const std::string& why) {
    if (done_) done_ = invalid("tma_jit_options: " + name + " is " + why);
  }
  Result<void> done() && { return std::move(done_); }

 private:
  Result<void> done_{};
};

// Numbers whose limits differ from those of others of their type.
void take_special(const tma_jit_options& given, Options& options, Taker& taker) {
  options.use_cache = given.no_cache == 0;
  if (given.worker_memory_limit == static_cast<uint64_t>(TMA_JIT_NONE)) options.compiler.memory_limit = 0;
  const double share = given.tuning_device_share;
  if (!(share >= 0)) taker.refuse("tuning_device_share", shown(share));
  if (share > 0) options.tuning.device_share = share;
}

void take_callbacks(const tma_jit_options& given, Options& options) {
  if (given.log != nullptr) {
    options.log = [log = given.log, user = given.log_user](LogLevel level, std::string_view message) {
      log(static_cast<tma_jit_log_level>(level) + 1, std::string(message).c_str(), user);
    };
  }
  if (given.on_sealed_miss != nullptr) {
    options.on_sealed_miss = [call = given.on_sealed_miss, user = given.on_sealed_miss_user](const Miss& miss) {
      const std::string key = miss.key.hex();
      const tma_jit_miss told{sizeof told, miss.kernel.c_str(), miss.arch.c_str(), key.c_str(),
                              miss.explanation.c_str()};
      call(&told, user);
    };
  }
  if (given.may_measure != nullptr) {
    options.tuning.may_measure = [call = given.may_measure, user = given.may_measure_user] { return call(user) != 0; };
  }
}

}  // namespace

Result<Seal> seal_of(tma_jit_seal seal) {
  Taker taker;
  Seal made{};
  taker("seal", Choice{seal, TMA_JIT_SEAL_REFUSE, false}, made);
  return std::move(taker).done().map([&] { return made; });
}

Result<Options> options_of(const tma_jit_options* from) {
  auto given = read_struct(from, "tma_jit_options");
  if (!given) return tl::make_unexpected(std::move(given).error());
  Options options;
  if (given->device != nullptr) {
    auto device = Device::parse(given->device);
    if (!device) return tl::make_unexpected(std::move(device).error());
    options.device = *std::move(device);
  }
  Taker taker;
  each_option(taker, *given, options);
  take_special(*given, options, taker);
  if (auto taken = std::move(taker).done(); !taken) return tl::make_unexpected(std::move(taken).error());
  take_callbacks(*given, options);
  if (given->limits != nullptr) {
    auto limits = read_struct(given->limits, "tma_jit_device_info");
    if (!limits) return tl::make_unexpected(std::move(limits).error());
    options.limits = device_of(*limits);
  }
  return options;
}

}  // namespace tma_jit::c_api
