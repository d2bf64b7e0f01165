// Gradients of norms that are stored over the rows that they are computed of: what the command cannot ask for. Needs
// NVRTC.
#include <cstdint>
#include <vector>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include <doctest/doctest.h>

#include "emulator/devices.h"
#include "emulator/float_buffers.h"

namespace tma_jit {

using testing::fetched, testing::sent, testing::small_integers;

namespace {

enum class Over { nothing, x, dy };

// DX of rms_norm, stored over what is named.
std::vector<float> gradient(Engine& engine, std::int64_t rows, std::int64_t columns, Over over) {
  const auto count = static_cast<std::size_t>(rows * columns);
  const DeviceBuffer x = sent(engine, small_integers(rows * columns, 1)), w = sent(engine, small_integers(columns, 2)),
                     dy = sent(engine, small_integers(rows * columns, 3)),
                     dw = sent(engine, small_integers(columns, 4)), own = sent(engine, std::vector<float>(count));
  const DeviceBuffer& dx = over == Over::x ? x : over == Over::dy ? dy : own;
  const auto matrix = [&](const DeviceBuffer& of) {
    return Tensor::row_major(of.address(), DType::f32, {rows, columns});
  };
  const auto vector = [&](const DeviceBuffer& of) { return Tensor::row_major(of.address(), DType::f32, {columns}); };
  auto launch = engine.prepare(
      {.kernel = "rms_norm_backward",
       .tensors = {{"X", matrix(x)}, {"W", vector(w)}, {"DY", matrix(dy)}, {"DX", matrix(dx)}, {"DW", vector(dw)}}});
  REQUIRE_MESSAGE(launch, launch.error().text());
  const auto launched = launch->launch();
  REQUIRE_MESSAGE(launched, (launched ? "" : launched.error().text()));
  return fetched(dx, count);
}

}  // namespace

TEST_CASE("gradients of a norm are stored over its rows or their gradients, wherever rows begin") {
  Engine engine = testing::emulated_engine("sm_90a");
  for (const std::int64_t columns : {41, 64, 501}) {
    CAPTURE(columns);
    const std::vector<float> expected = gradient(engine, 70, columns, Over::nothing);
    CHECK(gradient(engine, 70, columns, Over::x) == expected);
    CHECK(gradient(engine, 70, columns, Over::dy) == expected);
  }
}

}  // namespace tma_jit
