// Problems whose tensors hold more than 2^31 elements, checked without filling gigabytes of host memory: vectors repeat
// a block of prime length, matrix products are checked on sampled rows.
#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <tma_jit/tma_jit.h>

#include "element.h"

namespace tma_jit {
namespace {

constexpr std::int64_t kMany = (std::int64_t{1} << 31) + 12345;
constexpr std::size_t kPeriod = 16777259;  // prime: every alignment of the block occurs

void require_ok(const Result<void>& result) {
  REQUIRE_MESSAGE(result.has_value(), result.error().text());
}

DeviceBuffer allocate(Engine& engine, std::int64_t elements, DType type) {
  auto buffer = DeviceBuffer::allocate(engine, static_cast<std::size_t>(elements) * size_of(type));
  REQUIRE_MESSAGE(buffer.has_value(), buffer.error().text());
  return std::move(*buffer);
}

template <class T> void send_repeated(DeviceBuffer& buffer, const std::vector<T>& block) {
  for (std::size_t at = 0; at < buffer.bytes(); at += block.size() * sizeof(T)) {
    require_ok(buffer.upload(block.data(), std::min(block.size() * sizeof(T), buffer.bytes() - at), at));
  }
}

template <class T> std::int64_t differences(const DeviceBuffer& buffer, const std::vector<T>& block) {
  std::vector<T> fetched(block.size());
  std::int64_t different = 0;
  for (std::size_t at = 0; at < buffer.bytes(); at += block.size() * sizeof(T)) {
    const std::size_t bytes = std::min(block.size() * sizeof(T), buffer.bytes() - at);
    require_ok(buffer.download(fetched.data(), bytes, at));
    if (std::memcmp(fetched.data(), block.data(), bytes) == 0) continue;
    for (std::size_t i = 0; i < bytes / sizeof(T); ++i) different += fetched[i] != block[i];
  }
  return different;
}

void run(Engine& engine, const Request& request) {
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch.has_value(), launch.error().text());
  require_ok(launch->launch());
  require_ok(synchronize(engine));
}

std::vector<std::uint16_t> random_bf16(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint16_t> block(count);
  // Small integers: sums and products of few are exact in bf16.
  for (std::uint16_t& x : block)
    x = static_cast<std::uint16_t>(cli::encode(DType::bf16, static_cast<double>(random() % 9) - 4));
  return block;
}

}  // namespace

TEST_CASE("copy and map work beyond 2^31 elements") {
  Engine engine;
  const std::vector<std::uint16_t> a = random_bf16(kPeriod, 1), b = random_bf16(kPeriod, 2);
  DeviceBuffer device_a = allocate(engine, kMany, DType::bf16), device_b = allocate(engine, kMany, DType::bf16);
  DeviceBuffer device_y = allocate(engine, kMany, DType::bf16);
  send_repeated(device_a, a);
  send_repeated(device_b, b);
  const auto tensor = [&](const DeviceBuffer& buffer) {
    return Tensor::row_major(buffer.address(), DType::bf16, {kMany});
  };

  require_ok(device_y.fill(0xFF));
  run(engine, {.kernel = "copy", .tensors = {{"S", tensor(device_a)}, {"D", tensor(device_y)}}});
  CHECK(differences(device_y, a) == 0);

  require_ok(device_y.fill(0xFF));
  run(engine, {.kernel = "map",
               .tensors = {{"A", tensor(device_a)}, {"B", tensor(device_b)}, {"Y", tensor(device_y)}},
               .hooks = {{"apply", "a + b"}}});
  std::vector<std::uint16_t> sum(kPeriod);
  for (std::size_t i = 0; i < kPeriod; ++i) {
    sum[i] = static_cast<std::uint16_t>(
        cli::encode(DType::bf16, cli::decode(DType::bf16, a[i]) + cli::decode(DType::bf16, b[i])));
  }
  CHECK(differences(device_y, sum) == 0);
}

TEST_CASE("gemm works where D has more than 2^31 elements") {
  Engine engine;
  constexpr std::int64_t kM = 46349, kN = 46352, kK = 72;
  static_assert(kM * kN > (std::int64_t{1} << 31));
  const std::vector<std::uint16_t> a = random_bf16(kM * kK, 3), b = random_bf16(kN * kK, 4);
  DeviceBuffer device_a = allocate(engine, kM * kK, DType::bf16), device_b = allocate(engine, kN * kK, DType::bf16);
  require_ok(device_a.upload(a.data(), a.size() * 2));
  require_ok(device_b.upload(b.data(), b.size() * 2));
  for (const std::string file : {"gemm_wgmma", "gemm_mma"}) {
    DeviceBuffer device_d = allocate(engine, kM * kN, DType::f32);
    require_ok(device_d.fill(0xFF));
    run(engine, {.kernel = "gemm",
                 .tensors = {{"A", Tensor::row_major(device_a.address(), DType::bf16, {kM, kK})},
                             {"B", Tensor::row_major(device_b.address(), DType::bf16, {kN, kK})},
                             {"D", Tensor::row_major(device_d.address(), DType::f32, {kM, kN})}},
                 .file = file});
    std::vector<float> row(kN);
    std::int64_t wrong = 0;
    for (std::int64_t m = 0; m < kM; m += m + 1 == kM ? 1 : std::min<std::int64_t>(1201, kM - 1 - m)) {
      require_ok(device_d.download(row.data(), row.size() * 4, static_cast<std::size_t>(m * kN) * 4));
      for (std::int64_t n = 0; n < kN; n += 7) {
        double sum = 0;
        for (std::int64_t k = 0; k < kK; ++k) {
          sum += cli::decode(DType::bf16, a[static_cast<std::size_t>(m * kK + k)]) *
                 cli::decode(DType::bf16, b[static_cast<std::size_t>(n * kK + k)]);
        }
        wrong += static_cast<double>(row[static_cast<std::size_t>(n)]) != sum;
      }
    }
    CHECK_MESSAGE(wrong == 0, fmt::format("{}: {} sampled elements differ", file, wrong));
  }
}

}  // namespace tma_jit
