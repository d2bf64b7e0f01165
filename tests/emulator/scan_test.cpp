// Scans of columns, in place, and launch after launch: what the command cannot ask for. Needs NVRTC.
#include <algorithm>
#include <vector>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include <doctest/doctest.h>

#include "emulator/buffers.h"
#include "emulator/devices.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

Launch prepared(Engine& engine, const Tensor& x, const Tensor& y) {
  auto launch = engine.prepare({.kernel = "scan", .tensors = {{"X", x}, {"Y", y}}, .params = {{"OP", 0}}});
  REQUIRE_MESSAGE(launch, launch.error().text());
  return std::move(*launch);
}

// The running sums of rows whose elements are `step` apart, and rows `pitch`.
std::vector<float> sums(std::vector<float> values, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                        std::int64_t step) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 1; column < columns; ++column) {
      const auto at = static_cast<std::size_t>(row * pitch + column * step);
      values[at] += values[at - static_cast<std::size_t>(step)];
    }
  return values;
}

}  // namespace

TEST_CASE("columns of a matrix are scanned as the rows of its transpose") {
  Engine engine = emulated_engine("sm_90a");
  constexpr std::int64_t kRows = 301, kColumns = 75;
  const std::vector<float> values = small_integers(kRows * kColumns);
  const DeviceBuffer x = sent(engine, values), y = sent(engine, std::vector<float>(values.size()));
  const auto transposed = [](const DeviceBuffer& of) {
    return Tensor::strided(of.address(), DType::f32, {kColumns, kRows}, {1, kColumns});
  };
  REQUIRE(prepared(engine, transposed(x), transposed(y)).launch());
  CHECK(fetched(y, values.size()) == sums(values, kColumns, kRows, 1, kColumns));
}

TEST_CASE("rows are scanned in place, launch after launch, whoever shares them") {
  for (const char* arch : {"sm_90a", "sm_80"}) {
    Engine engine = emulated_engine(arch);
    for (const std::int64_t columns : {100, 5000, 60000}) {
      CAPTURE(columns);
      const std::vector<float> values = small_integers(2 * columns);
      DeviceBuffer x = sent(engine, values);
      const Tensor rows = Tensor::row_major(x.address(), DType::f32, {2, columns});
      Launch launch = prepared(engine, rows, rows);
      for (int i = 0; i < 2; ++i) {  // the second finds the workspace as the first has left it
        REQUIRE(x.upload(values.data(), values.size() * sizeof(float)));
        const auto launched = launch.launch();
        REQUIRE_MESSAGE(launched, (launched ? "" : launched.error().text()));
        CHECK(fetched(x, values.size()) == sums(values, 2, columns, columns, 1));
      }
    }
  }
}
