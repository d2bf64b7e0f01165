// An engine for tests on a fake driver, with two kernels and a cache folder of its own.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <tma_jit/engine.h>

#include "support/engines.h"
#include "support/fake_driver.h"
#include "support/templates.h"

namespace tma_jit::testing {

// A fake H100 and an engine on it, with a cache folder that lasts as long as `folder`.
struct FakeBench {
  FakeDriver fake;
  TestLog log;
  TemporaryFolder folder;

  FakeBench() { fake.api().kernel_get_param_info = nullptr; }

  Options options() {
    Options options;
    options.cache_dir = folder.path() / "cache";
    options.log = log.callback();
    return options;
  }
  Engine engine(Options given) {
    Engine made = engine_with(std::move(given), fake.provider());
    REQUIRE(made.add_template("scale.cu", kScale));
    REQUIRE(made.add_template("tile.cu", kTile));
    return made;
  }
  Engine engine() { return engine(options()); }
};

inline Request engine_bench_request(std::int64_t n = 1000, std::string hook = {}) {
  Request request{.kernel = "scale",
                  .tensors = {{"X", Tensor::row_major(std::uint64_t{0x10000}, DType::f32, {n})},
                              {"Y", Tensor::row_major(std::uint64_t{0x20000}, DType::f32, {n})}},
                  .scalars = {{"alpha", 2.0}}};
  if (!hook.empty()) request.hooks["apply"] = std::move(hook);
  return request;
}

}  // namespace tma_jit::testing
