// What tests of tuning on the emulator share: a small request, and options that measure few configurations of it.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <tma_jit/tuning.h>

namespace tma_jit::testing {

inline Request small_copy() {
  Request request{.kernel = "copy"};
  request.dims = {{"N", 3000}};
  request.types = {{"T", DType::f32}};
  return request;
}

inline TuneOptions quick(const std::filesystem::path& records) {
  TuneOptions options;
  options.records = records;
  options.candidates = 4;
  options.budget_s = 300;
  options.flush_l2 = false;
  options.least_gain = 0;
  return options;
}

inline std::vector<TuneResult> tuned(Engine& engine, const Request& request, const TuneOptions& options) {
  auto results = tune(engine, std::vector{request}, options);
  REQUIRE_MESSAGE(results, results.error().text());
  REQUIRE(results->size() == 1);
  REQUIRE_MESSAGE(!results->front().error, results->front().error->text());
  return std::move(*results);
}

}  // namespace tma_jit::testing
