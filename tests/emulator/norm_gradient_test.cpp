// Gradients of norms that are stored over the rows that they are computed of: what the command cannot ask for. Needs
// NVRTC.
#include <cstdint>
#include <vector>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include <doctest/doctest.h>

#include "emulator/devices.h"

namespace tma_jit {
namespace {

std::vector<float> seeded_integers(std::int64_t count, std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i + seed) * 2654435761U >> 7 & 7) - 3;
  return values;
}

DeviceBuffer uploaded(Engine& engine, const std::vector<float>& values) {
  auto buffer = DeviceBuffer::allocate(engine, values.size() * sizeof(float));
  REQUIRE(buffer);
  REQUIRE(buffer->upload(values.data(), values.size() * sizeof(float)));
  return std::move(*buffer);
}

std::vector<float> downloaded(const DeviceBuffer& buffer, std::size_t count) {
  std::vector<float> values(count);
  REQUIRE(buffer.download(values.data(), count * sizeof(float)));
  return values;
}

enum class Over { nothing, x, dy };

// DX of rms_norm, stored over what is named.
std::vector<float> gradient(Engine& engine, std::int64_t rows, std::int64_t columns, Over over) {
  const auto count = static_cast<std::size_t>(rows * columns);
  const DeviceBuffer x = uploaded(engine, seeded_integers(rows * columns, 1)),
                     w = uploaded(engine, seeded_integers(columns, 2)),
                     dy = uploaded(engine, seeded_integers(rows * columns, 3)),
                     dw = uploaded(engine, seeded_integers(columns, 4)),
                     own = uploaded(engine, std::vector<float>(count));
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
  return downloaded(dx, count);
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
