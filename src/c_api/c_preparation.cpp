// Preparation in the background, for C.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "c_api/c_handles.h"

namespace {

using namespace tma_jit::c_api;
using tma_jit::Preparation;
using tma_jit::PrepareOptions;
using tma_jit::Result;

constexpr double kLongestSeconds = 1e9;

Result<PrepareOptions> prepare_options_of(const tma_jit_prepare_options* from) {
  auto given = read_struct(from, "tma_jit_prepare_options");
  if (!given) return tl::make_unexpected(std::move(given).error());
  if (given->threads < 0) return invalid("tma_jit_prepare_options: threads is " + std::to_string(given->threads));
  PrepareOptions options{.threads = given->threads};
  if (given->progress != nullptr) {
    options.progress = [call = given->progress, user = given->progress_user](std::size_t done, std::size_t total) {
      call(done, total, user);
    };
  }
  return options;
}

Result<Preparation> prepare_async(tma_jit_engine& engine, const tma_jit_request* const* given, size_t count,
                                  const tma_jit_prepare_options* options) {
  auto chosen = prepare_options_of(options);
  if (!chosen) return tl::make_unexpected(std::move(chosen).error());
  auto requests = requests_of(given, count, "tma_jit_prepare_async");
  if (!requests) return tl::make_unexpected(std::move(requests).error());
  return engine.engine.prepare_async(*std::move(requests), *std::move(chosen));
}

Result<bool> wait(Preparation& preparation, double limit_s) {
  if (limit_s == TMA_JIT_NONE) {
    preparation.wait();
    return true;
  }
  if (!(limit_s >= 0)) return invalid("tma_jit_preparation_wait: limit_s is " + std::to_string(limit_s));
  const double milliseconds = std::min(limit_s, kLongestSeconds) * 1000;
  return preparation.wait_for(std::chrono::milliseconds(std::llround(milliseconds)));
}

}  // namespace

tma_jit_status tma_jit_prepare_async(tma_jit_engine* engine, const tma_jit_request* const* requests, size_t count,
                                     const tma_jit_prepare_options* options, tma_jit_preparation** out,
                                     tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}}, out,
                handle_of<tma_jit_preparation>([&] { return prepare_async(*engine, requests, count, options); }));
}

void tma_jit_preparation_free(tma_jit_preparation* preparation) {
  delete preparation;
}

size_t tma_jit_preparation_total(const tma_jit_preparation* preparation) {
  return preparation != nullptr ? preparation->preparation.total() : 0;
}

size_t tma_jit_preparation_done(const tma_jit_preparation* preparation) {
  return preparation != nullptr ? preparation->preparation.done() : 0;
}

tma_jit_status tma_jit_preparation_cancel(tma_jit_preparation* preparation, tma_jit_error** error) {
  return guarded(__func__, error, {{"preparation", preparation}}, [&]() -> Result<void> {
    preparation->preparation.cancel();
    return {};
  });
}

tma_jit_status tma_jit_preparation_wait(tma_jit_preparation* preparation, double limit_s, int32_t* finished,
                                        tma_jit_error** error) {
  return guarded(__func__, error, {{"preparation", preparation}}, [&]() -> Result<void> {
    const auto waited = wait(preparation->preparation, limit_s);
    if (!waited) return tl::make_unexpected(waited.error());
    if (finished != nullptr) *finished = *waited ? 1 : 0;
    return {};
  });
}

tma_jit_status tma_jit_preparation_take(tma_jit_preparation* preparation, size_t index, tma_jit_launch** out,
                                        tma_jit_error** error) {
  return making(__func__, error, {{"preparation", preparation}}, out,
                handle_of<tma_jit_launch>([&] { return preparation->preparation.take(index); }));
}
