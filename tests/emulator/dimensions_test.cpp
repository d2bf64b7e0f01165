// Elementwise kernels, copies and reductions over tensors at any strides, and norms in place and launch after launch:
// what the command cannot ask for. Needs NVRTC.
#include <cmath>
#include <cstdint>
#include <vector>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include <doctest/doctest.h>

#include "emulator/buffers.h"
#include "emulator/devices.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

constexpr const char* kTargets[] = {"sm_80", "sm_90a", "sm_100a", "sm_121a"};

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 2654435761U >> 7 & 63) - 31;
  return values;
}

Launch prepared(Engine& engine, const Request& request) {
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch, launch.error().text());
  return std::move(*launch);
}

// Group norm of one channel a group, without weights.
std::vector<float> normalized(std::vector<float> x, std::size_t length) {
  for (std::size_t first = 0; first < x.size(); first += length) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < length; ++i) sum += x[first + i];
    const double mean = sum / static_cast<double>(length);
    for (std::size_t i = 0; i < length; ++i) squares += (x[first + i] - mean) * (x[first + i] - mean);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(length) + 1e-5);
    for (std::size_t i = 0; i < length; ++i) x[first + i] = static_cast<float>((x[first + i] - mean) * scale);
  }
  return x;
}

bool are_close(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-5F * (1 + std::abs(b[i])))) return false;
  return a.size() == b.size();
}

}  // namespace

TEST_CASE("inputs of different types are broadcast along any dimension, and results may be inputs") {
  constexpr std::int64_t kHeads = 3, kRows = 7, kColumns = 19;
  const std::vector<float> a = numbers(kHeads * kRows * kColumns), of_heads = numbers(kHeads),
                           of_columns = numbers(kColumns);
  std::vector<std::uint8_t> mask(kRows);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 3 != 0;
  for (const char* arch : kTargets) {
    CAPTURE(arch);
    Engine engine = emulated_engine(arch);
    const DeviceBuffer x = sent(engine, a), heads = sent(engine, of_heads), columns = sent(engine, of_columns),
                       rows = sent(engine, mask), more = sent(engine, std::vector<std::int32_t>(a.size()));
    const std::initializer_list<std::int64_t> shape = {1, 1, kHeads, kRows, kColumns};
    const Tensor own = Tensor::row_major(x.address(), DType::f32, shape);
    Launch launch =
        prepared(engine, {.kernel = "map",
                          .tensors = {{"A", own},
                                      {"B", Tensor::strided(heads.address(), DType::f32, shape, {0, 0, 1, 0, 0})},
                                      {"C", Tensor::strided(columns.address(), DType::f32, shape, {0, 0, 0, 0, 1})},
                                      {"D", Tensor::strided(rows.address(), DType::u8, shape, {0, 0, 0, 1, 0})},
                                      {"Y", own},
                                      {"Y1", Tensor::row_major(more.address(), DType::s32, shape)}},
                          .hooks = {{"apply", "d != 0 ? a * b + c : -1"}, {"apply1", "a + i3"}}});
    REQUIRE(launch.launch());
    const auto y = fetched(x, a.size());
    const auto y1 = fetched<std::int32_t>(more, a.size());
    bool same = true;
    for (std::int64_t h = 0, at = 0; h < kHeads; ++h)
      for (std::int64_t r = 0; r < kRows; ++r)
        for (std::int64_t c = 0; c < kColumns; ++c, ++at) {
          const auto i = static_cast<std::size_t>(at);
          const float wanted = mask[r] != 0 ? a[i] * of_heads[h] + of_columns[c] : -1;
          same = same && y[i] == wanted && y1[i] == static_cast<std::int32_t>(a[i]) + r;
        }
    CHECK(same);
  }
}

TEST_CASE("tensors of any strides are copied as another type") {
  constexpr std::int64_t kRows = 21, kColumns = 37;
  const std::vector<float> values = numbers(kRows * kColumns);
  for (const char* arch : kTargets) {
    CAPTURE(arch);
    Engine engine = emulated_engine(arch);
    const DeviceBuffer from = sent(engine, values), to = sent(engine, std::vector<std::int32_t>(values.size()));
    Launch launch =
        prepared(engine, {.kernel = "copy",
                          .tensors = {{"S", Tensor::strided(from.address(), DType::f32, {1, 1, 1, kColumns, kRows},
                                                            {0, 0, 0, 1, kColumns})},
                                      {"D", Tensor::row_major(to.address(), DType::s32, {1, 1, 1, kColumns, kRows})}}});
    REQUIRE(launch.launch());
    const auto copied = fetched<std::int32_t>(to, values.size());
    bool same = true;
    for (std::int64_t c = 0; c < kColumns; ++c)
      for (std::int64_t r = 0; r < kRows; ++r)
        same = same && copied[static_cast<std::size_t>(c * kRows + r)] ==
                           static_cast<std::int32_t>(values[static_cast<std::size_t>(r * kColumns + c)]);
    CHECK(same);
  }
}

TEST_CASE("any dimensions of a strided tensor are combined, launch after launch") {
  constexpr std::int64_t kA = 40, kB = 3, kC = 50, kD = 5;
  const std::vector<float> values = numbers(kA * kB * kC * kD);
  std::vector<float> sums(kB * kD);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i / (kC * kD) % kB * kD + i % kD] += values[i];
  for (const char* arch : kTargets) {
    CAPTURE(arch);
    Engine engine = emulated_engine(arch);
    const DeviceBuffer x = sent(engine, values), y = sent(engine, std::vector<float>(sums.size()));
    Launch launch = prepared(
        engine, {.kernel = "reduce",
                 .tensors = {{"X", Tensor::strided(x.address(), DType::f32, {1, kD, kB, kA, kC},
                                                   {0, 1, kC * kD, kB * kC * kD, kD})},
                             {"Y", Tensor::strided(y.address(), DType::f32, {1, kD, kB, 1, 1}, {0, 1, kD, 0, 0})}},
                 .params = {{"R0", 0}, {"R1", 0}, {"R2", 0}, {"R3", 1}, {"R4", 1}}});
    for (int i = 0; i < 2; ++i) {  // the second finds the workspace as the first has left it
      REQUIRE(launch.launch());
      CHECK(fetched(y, sums.size()) == sums);
    }
  }
}

TEST_CASE("groups are normalized in place, launch after launch, wherever they are kept") {
  for (const char* arch : kTargets) {
    Engine engine = emulated_engine(arch);
    // In registers, in shared memory, and by many blocks in two phases.
    for (const std::int64_t length : {1024, 20480, 135168}) {
      CAPTURE(arch);
      CAPTURE(length);
      const std::vector<float> values = numbers(static_cast<std::size_t>(3 * length));
      const std::vector<float> wanted = normalized(values, static_cast<std::size_t>(length));
      DeviceBuffer x = sent(engine, values);
      const Tensor groups = Tensor::row_major(x.address(), DType::f32, {1, 3, length});
      Launch launch = prepared(engine, {.kernel = "group_norm",
                                        .tensors = {{"X", groups}, {"Y", groups}},
                                        .dims = {{"G", 3}},
                                        .params = {{"AFFINE", 0}}});
      for (int i = 0; i < 2; ++i) {
        REQUIRE(x.upload(values.data(), values.size() * sizeof(float)));
        REQUIRE(launch.launch());
        CHECK(are_close(fetched(x, values.size()), wanted));
      }
    }
  }
}
