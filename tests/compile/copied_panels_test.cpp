// Tiles of keys and steps of queries of which the threads of a block copy panels: what is planned compiles. Needs
// NVRTC.
#include <doctest/doctest.h>

#include <tma_jit/engine.h>

#include "support/shared_cache.h"

namespace tma_jit {
namespace {

// Returns whether the request is refused because a copy of a panel has not enough rows for all threads; otherwise it
// must compile.
bool refused(Engine& engine, const Request& request) {
  const auto plan = engine.plan(request);
  if (!plan) {
    CHECK_MESSAGE(plan.error().text().find("a copy of a panel takes all threads") != std::string::npos,
                  plan.error().text());
    return true;
  }
  const auto ptx = engine.build_ptx(*plan);
  CHECK_MESSAGE(ptx, (ptx ? "" : ptx.error().text()));
  return false;
}

}  // namespace

TEST_CASE("gradients of heads have tiles and steps of which all threads copy panels, or are refused") {
  Engine engine({.device = Device::known("a100"), .use_cache = testing::has_shared_cache()});
  for (const bool ragged : {false, true}) {
    const std::string kernel = ragged ? "attention_ragged_backward" : "attention_backward";
    Request request{.kernel = kernel,
                    .dims = {{"HEADS", 1}, {"KV_HEADS", 1}, {"M", 23}, {"N", 40}},
                    .file = kernel + "_mma_cp_async"};
    if (ragged) request.dims["BATCH"] = 1;
    const auto with = [&](std::int64_t size, std::int64_t tile, std::int64_t step) {
      request.params = {{"HD", size}, {"TILE", tile}, {"STEP", step}};
      CAPTURE(request.params);
      return refused(engine, request);
    };
    CHECK_FALSE(with(64, 64, 16));
    CHECK(with(64, 128, 16));
    CHECK_FALSE(with(64, 128, 32));
    CHECK(with(96, 64, 16));
    CHECK_FALSE(with(96, 64, 32));
    CHECK(with(96, 128, 32));
  }
}

}  // namespace tma_jit
