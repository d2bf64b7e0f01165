#include "c_api/c_options.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "core/option_fields.h"

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

// The values of an enumeration in C, from 0 to `last`. If 0 stands for the default, the others are one more than in
// C++.
struct Range {
  int32_t last;
  bool has_default;
};
template <class Enum> constexpr Range kRange{};
template <> constexpr Range kRange<LogLevel>{TMA_JIT_LOG_OFF, true};
template <> constexpr Range kRange<TuningPolicy>{TMA_JIT_TUNING_BACKGROUND, true};
template <> constexpr Range kRange<Seal>{TMA_JIT_SEAL_REFUSE, false};
template <> constexpr Range kRange<CompilerOptions::Place>{TMA_JIT_PLACE_IN_PROCESS, false};

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
  void operator()(const char*, auto& to, const char* text) {
    if (text != nullptr) to = text;
  }
  void operator()(const char* name, std::optional<RemoteRole>& to, const char* text) {
    const std::string_view role = text != nullptr ? text : "";
    if (role == "read-write") to = RemoteRole::read_write;
    if (role == "read-only") to = RemoteRole::read_only;
    if (role == "write-only") to = RemoteRole::write_only;
    if (!role.empty() && !to) refuse(name, "\"" + std::string(role) + "\"; it is read-write, read-only or write-only");
  }
  void operator()(const char*, bool& to, int32_t flag) { to = flag != 0; }
  void operator()(const char*, bool& to, Opposite opposite) { to = opposite.flag == 0; }
  void operator()(const char*, std::optional<bool>& to, int32_t flag) {
    if (flag != 0) to = true;
  }
  void operator()(const char* name, int& to, int32_t count) {
    if (count < 0) refuse(name, std::to_string(count) + "; it may not be negative");
    to = count;
  }
  void operator()(const char*, uint64_t& to, uint64_t amount) {
    if (amount != 0) to = amount;
  }

  // TMA_JIT_NONE means no waiting.
  void operator()(const char* name, double& to, double seconds) {
    if (!(seconds >= 0) && seconds != TMA_JIT_NONE) refuse(name, shown(seconds));
    if (seconds != 0) to = std::max(seconds, 0.0);
  }
  // TMA_JIT_NONE means no limit.
  void operator()(const char* name, std::chrono::milliseconds& to, double seconds) {
    double limit = 0;
    (*this)(name, limit, seconds);
    if (limit > 0) to = limit_of(limit);
    if (seconds == TMA_JIT_NONE) to = std::chrono::milliseconds::max();
  }

  template <class Enum> void operator()(const char* name, Enum& to, int32_t value) requires std::is_enum_v<Enum> {
    const auto [last, has_default] = kRange<Enum>;
    if (value < 0 || value > last) return refuse(name, std::to_string(value) + "; it is 0 to " + std::to_string(last));
    if (value != 0 || !has_default) to = static_cast<Enum>(has_default ? value - 1 : value);
  }
  template <class Enum> void operator()(const char* name, std::optional<Enum>& to, int32_t value) {
    if (value != 0) (*this)(name, to.emplace(), value);
  }

  void operator()(const std::string& name, Paths& to, const char* const* paths, std::size_t count) {
    if (paths == nullptr && count > 0) return refuse(name, "NULL and its count is " + std::to_string(count));
    for (std::size_t i = 0; i < count; ++i) {
      if (paths[i] == nullptr) return refuse(name + "[" + std::to_string(i) + "]", "NULL");
      to.emplace_back(paths[i]);
    }
  }

  void operator()(const char*, std::optional<DeviceInfo>& to, const tma_jit_device_info* given) {
    if (given == nullptr) return;
    auto limits = read_struct(given, "tma_jit_device_info");
    if (limits) to = device_of(*limits);
    if (!limits && done_) done_ = tl::make_unexpected(std::move(limits).error());
  }

  void operator()(const char*, LogCallback& to, tma_jit_log log, void* user) {
    if (log == nullptr) return;
    to = [log, user](LogLevel level, std::string_view message) {
      log(static_cast<tma_jit_log_level>(level) + 1, std::string(message).c_str(), user);
    };
  }
  void operator()(const char*, MissCallback& to, tma_jit_miss_callback call, void* user) {
    if (call == nullptr) return;
    to = [call, user](const Miss& miss) {
      const std::string key = miss.key.hex();
      const tma_jit_miss told{sizeof told, miss.kernel.c_str(), miss.arch.c_str(), key.c_str(),
                              miss.explanation.c_str()};
      call(&told, user);
    };
  }
  void operator()(const char*, std::function<bool()>& to, tma_jit_may_measure call, void* user) {
    if (call != nullptr) to = [call, user] { return call(user) != 0; };
  }

  void refuse(const std::string& name, const std::string& why) {
    if (done_) done_ = invalid("tma_jit_options: " + name + " is " + why);
  }
  Result<void> done() && { return std::move(done_); }

 private:
  Result<void> done_{};
};

// Numbers for which TMA_JIT_NONE does not mean what it means for others of their type.
void take_special(const tma_jit_options& given, Options& options, Taker& taker) {
  if (given.worker_memory_limit == static_cast<uint64_t>(TMA_JIT_NONE)) options.compiler.memory_limit = 0;
  const double share = given.tuning_device_share;
  if (share == TMA_JIT_NONE) taker.refuse("tuning_device_share", shown(share));
}

}  // namespace

Result<Seal> seal_of(tma_jit_seal seal) {
  Taker taker;
  Seal made{};
  taker("seal", made, seal);
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
  each_option(taker, options, *given);
  take_special(*given, options, taker);
  if (auto taken = std::move(taker).done(); !taken) return tl::make_unexpected(std::move(taken).error());
  return options;
}

}  // namespace tma_jit::c_api
