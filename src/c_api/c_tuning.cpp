// Tuning for C.
#include <tma_jit/c_tuning.h>

#include <algorithm>

#include <tma_jit/json.h>
#include <tma_jit/tuning.h>

#include "c_api/c_handles.h"

// NOLINTNEXTLINE(readability-identifier-naming): as c_tuning.h names it
struct tma_jit_tuning {
  std::vector<tma_jit::TuneResult> results;
};

namespace {

using namespace tma_jit::c_api;
using tma_jit::Result;
using tma_jit::TuneExchange;
using tma_jit::TuneOptions;
using tma_jit::TuneProgress;
using tma_jit::TuneResult;

tl::unexpected<tma_jit::Error> failed(const char* what, const std::string& problem, int32_t status) {
  return tl::make_unexpected(tma_jit::Error{
      tma_jit::ErrorCode::io,
      std::string("tma_jit_tune: ") + what + " of problem " + problem + " returned " + std::to_string(status),
      {}});
}

std::function<bool(const TuneProgress&)> progress_of(const tma_jit_tune_options& given) {
  if (given.progress == nullptr) return {};
  return [call = given.progress, user = given.progress_user](const TuneProgress& at) {
    const tma_jit_tune_progress shown{sizeof shown, at.request, at.requests, at.trial,
                                      at.trials,    at.seconds, at.budget_s};
    return call(&shown, user) != 0;
  };
}

std::function<Result<void>(double)> beside_of(const tma_jit_tune_options& given) {
  if (given.beside == nullptr) return {};
  return [call = given.beside, user = given.beside_user](double us) -> Result<void> {
    const int32_t status = call(us, user);
    if (status == 0) return {};
    return tl::make_unexpected(
        tma_jit::Error{tma_jit::ErrorCode::io, "tma_jit_tune: beside returned " + std::to_string(status), {}});
  };
}

constexpr size_t kLineBytes = size_t{64} << 10;

TuneExchange exchange_of(const tma_jit_tune_options& given) {
  TuneExchange exchange;
  if (given.publish != nullptr) {
    exchange.publish = [call = given.publish, user = given.exchange_user](const std::string& problem,
                                                                          const std::string& line) -> Result<void> {
      const int32_t status = call(problem.c_str(), line.c_str(), user);
      if (status == 0) return {};
      return failed("publish", problem, status);
    };
  }
  if (given.fetch != nullptr) {
    exchange.fetch = [call = given.fetch, user = given.exchange_user](
                         const std::string& problem, double wait_s) -> Result<std::optional<std::string>> {
      std::string line(kLineBytes, '\0');
      const int32_t status = call(problem.c_str(), wait_s, line.data(), line.size(), user);
      if (status == 0) return std::nullopt;
      if (status != 1) return failed("fetch", problem, status);
      line.resize(std::min(line.find('\0'), line.size()));
      return line;
    };
  }
  return exchange;
}

Result<TuneOptions> tune_options_of(const tma_jit_tune_options* from) {
  auto given = read_struct(from, "tma_jit_tune_options");
  if (!given) return tl::make_unexpected(std::move(given).error());
  if (!(given->budget_s >= 0)) return invalid("tma_jit_tune_options: budget_s is " + std::to_string(given->budget_s));
  const bool any_gain = given->least_gain == TMA_JIT_NONE;
  if (!any_gain && !(given->least_gain >= 0)) {
    return invalid("tma_jit_tune_options: least_gain is " + std::to_string(given->least_gain));
  }
  TuneOptions options;
  if (given->budget_s > 0) options.budget_s = given->budget_s;
  if (given->candidates > 0) options.candidates = given->candidates;
  if (any_gain || given->least_gain > 0) options.least_gain = any_gain ? 0 : given->least_gain;
  options.flush_l2 = given->keep_l2 == 0;
  options.again = given->again != 0;
  if (given->records != nullptr) options.records = given->records;
  options.progress = progress_of(*given);
  options.exchange = exchange_of(*given);
  options.replay = given->replay != 0;
  options.beside = beside_of(*given);
  return options;
}

Result<std::vector<TuneResult>> tune(tma_jit_engine& engine, const tma_jit_request* const* given, size_t count,
                                     const tma_jit_tune_options* options) {
  auto chosen = tune_options_of(options);
  if (!chosen) return tl::make_unexpected(std::move(chosen).error());
  auto requests = requests_of(given, count, "tma_jit_tune");
  if (!requests) return tl::make_unexpected(std::move(requests).error());
  return tma_jit::tune(engine.engine, *requests, *chosen);
}

Result<const TuneResult*> result_at(const tma_jit_tuning& tuning, size_t index) {
  if (index < tuning.results.size()) return &tuning.results[index];
  return tl::make_unexpected(
      tma_jit::Error{tma_jit::ErrorCode::not_found,
                     "result " + std::to_string(index) + "; there are " + std::to_string(tuning.results.size()),
                     {}});
}

}  // namespace

tma_jit_status tma_jit_tune(tma_jit_engine* engine, const tma_jit_request* const* requests, size_t count,
                            const tma_jit_tune_options* options, tma_jit_tuning** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}}, out,
                handle_of<tma_jit_tuning>([&] { return tune(*engine, requests, count, options); }));
}

void tma_jit_tuning_free(tma_jit_tuning* tuning) {
  delete tuning;
}

size_t tma_jit_tuning_count(const tma_jit_tuning* tuning) {
  return tuning != nullptr ? tuning->results.size() : 0;
}

tma_jit_status tma_jit_tuning_result(const tma_jit_tuning* tuning, size_t index, tma_jit_tune_result* out,
                                     tma_jit_error** error) {
  return guarded(__func__, error, {{"tuning", tuning}, {"out", out}}, [&]() -> Result<void> {
    const auto result = result_at(*tuning, index);
    if (!result) return tl::make_unexpected(result.error());
    const TuneResult& found = **result;
    if (found.error) return tl::make_unexpected(*found.error);
    const tma_jit_tune_result shown{0,
                                    found.record.us,
                                    found.record.preset_us,
                                    found.gain,
                                    found.seconds,
                                    found.trials.size(),
                                    found.known ? 1 : 0};
    return write_struct(shown, out, "tma_jit_tune_result");
  });
}

tma_jit_status tma_jit_tuning_json(const tma_jit_tuning* tuning, size_t index, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"tuning", tuning}}, out, string_of([&]() -> Result<std::string> {
                  const auto result = result_at(*tuning, index);
                  if (!result) return tl::make_unexpected(result.error());
                  return tma_jit::json_of(**result);
                }));
}

tma_jit_status tma_jit_tuning_file(tma_jit_engine* engine, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}}, out,
                string_of([&]() -> Result<std::string> { return tma_jit::tuning_file(engine->engine).string(); }));
}

tma_jit_status tma_jit_tuning_merge(const char* from, const char* to, size_t* skipped, tma_jit_error** error) {
  return guarded(__func__, error, {{"from", from}, {"to", to}}, [&]() -> Result<void> {
    const auto file = tma_jit::read_tuning_file(from);
    if (!file) return tl::make_unexpected(file.error());
    if (skipped != nullptr) *skipped = file->faults.size();
    return tma_jit::merge_tuning_file(to, file->records);
  });
}
