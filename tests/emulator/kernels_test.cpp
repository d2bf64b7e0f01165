// Kernels of the repository on the emulator, against sums computed by the host. Needs NVRTC.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <tma_jit/device.h>

#include "emulator/devices.h"
#include "emulator/numeric/float_bits.h"
#include "support/engines.h"
#include "support/products.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

void with_policy(const std::string& arch, emulator::Policy policy, std::uint64_t seed) {
  emulator::Settings settings;
  settings.policy = policy;
  settings.seed = seed;
  device_of(arch).settings = settings;
}

constexpr emulator::Policy kPolicies[] = {emulator::Policy::eager, emulator::Policy::lazy, emulator::Policy::random,
                                          emulator::Policy::split, emulator::Policy::starved};

void run(Engine& engine, const Request& request) {
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch, launch.error().text());
  const auto done = launch->launch();
  REQUIRE_MESSAGE(done, done.error().text());
}

// Uploads rows x columns of bytes with a pitch.
struct Matrix {
  Matrix(Engine& engine, std::int64_t row_count, std::int64_t column_count, std::int64_t pitch_elements)
      : rows(row_count),
        columns(column_count),
        pitch(pitch_elements),
        values(static_cast<std::size_t>(row_count * pitch_elements)),
        buffer(*DeviceBuffer::allocate(engine, values.size() * 2)) {}
  void upload() { REQUIRE(buffer.upload(values.data(), values.size() * 2)); }
  void download() { REQUIRE(buffer.download(values.data(), values.size() * 2)); }
  std::uint16_t& at(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * pitch + column)];
  }
  // The same for contiguous rows of bf16.
  std::vector<float> floats() const {
    std::vector<float> all;
    all.reserve(values.size());
    for (const std::uint16_t value : values) all.push_back(emulator::numeric::bf16_to_f32(value));
    return all;
  }
  Tensor tensor(DType type) const { return Tensor::strided(buffer.address(), type, {rows, columns}, {pitch, 1}); }
  std::int64_t rows, columns, pitch;
  std::vector<std::uint16_t> values;
  DeviceBuffer buffer;
};

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("The tiled copy is exact under every policy, ragged or not") {
  for (const std::string arch : {"sm_90a", "sm_100a", "sm_121a"}) {
    Engine engine = emulated_engine(arch);
    for (const auto& [rows, columns] : {std::pair{70, 100}, {64, 512}, {33, 257}}) {
      for (const emulator::Policy policy : kPolicies) {
        CAPTURE(arch);
        CAPTURE(rows);
        CAPTURE(static_cast<int>(policy));
        with_policy(arch, policy, 7);
        Matrix from(engine, rows, columns, (columns + 7) / 8 * 8 + 8), to(engine, rows, columns, (columns + 7) / 8 * 8);
        for (std::size_t i = 0; i < from.values.size(); ++i) from.values[i] = static_cast<std::uint16_t>(i * 40503U);
        from.upload();
        run(engine, {.kernel = "copy",
                     .tensors = {{"S", from.tensor(DType::u16)}, {"D", to.tensor(DType::u16)}},
                     .file = "copy_tiled"});
        to.download();
        for (int r = 0; r < rows; ++r)
          REQUIRE(std::memcmp(&to.at(r, 0), &from.at(r, 0), static_cast<std::size_t>(columns) * 2) == 0);
      }
    }
  }
}

namespace {

using emulator::numeric::bf16_to_f32;
using emulator::numeric::f32_to_bf16;

// Small integers, whose sums of products are exact in every order.
void fill_summable(Matrix& matrix, unsigned seed) {
  std::mt19937 generator(seed);
  for (auto& value : matrix.values) value = f32_to_bf16(static_cast<float>(static_cast<int>(generator() % 5) - 2));
}

void check_gemm(const std::string& arch, std::int64_t m, std::int64_t n, std::int64_t k,
                std::map<std::string, std::int64_t> params, const std::string& file) {
  Engine engine = emulated_engine(arch);
  Matrix a(engine, m, k, k), b(engine, n, k, k), d(engine, m, n, n);
  fill_summable(a, 1);
  fill_summable(b, 2);
  a.upload();
  b.upload();
  std::ranges::fill(d.values, std::uint16_t{0x7fff});
  d.upload();
  run(engine, {.kernel = "gemm",
               .tensors = {{"A", a.tensor(DType::bf16)}, {"B", b.tensor(DType::bf16)}, {"D", d.tensor(DType::bf16)}},
               .params = std::move(params),
               .file = file});
  d.download();
  const std::vector<float> sums = products({m, n, k, a.floats(), b.floats()});
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < m * n; ++i)
    wrong += d.at(i / n, i % n) != f32_to_bf16(sums[static_cast<std::size_t>(i)]) ? 1 : 0;
  REQUIRE(wrong == 0);
}

}  // namespace

TEST_CASE("The warp-specialised gemm is exact under every policy") {
  for (const emulator::Policy policy : kPolicies) {
    CAPTURE(static_cast<int>(policy));
    with_policy("sm_90a", policy, 3);
    check_gemm("sm_90a", 200, 136, 96, {}, "gemm_wgmma");
  }
}

TEST_CASE("The warp-specialised gemm shares tiles of A, of B and of both in a cluster") {
  for (const auto& [below, beside] : {std::pair{2, 1}, {1, 2}, {2, 2}}) {
    for (const emulator::Policy policy : kPolicies) {
      CAPTURE(below);
      CAPTURE(beside);
      CAPTURE(static_cast<int>(policy));
      with_policy("sm_90a", policy, 5);
      check_gemm("sm_90a", 300, 344, 192, {{"BM", 128}, {"BN", 128}, {"CLUSTER", below}, {"SHARE_N", beside}},
                 "gemm_wgmma");
    }
  }
}

TEST_CASE("The warp-specialised gemm with swapped operands is exact under every policy") {
  for (const emulator::Policy policy : kPolicies) {
    CAPTURE(static_cast<int>(policy));
    with_policy("sm_90a", policy, 7);
    check_gemm("sm_90a", 300, 344, 192, {{"SWAP", 1}, {"BM", 104}, {"BN", 128}, {"STAGES", 3}}, "gemm_wgmma");
    check_gemm("sm_90a", 300, 344, 192,
               {{"SWAP", 1}, {"BM", 80}, {"BN", 128}, {"STAGES", 3}, {"PINGPONG", 1}, {"SHARE_N", 2}}, "gemm_wgmma");
  }
}

TEST_CASE("The portable gemm is exact on every target") {
  for (const char* arch : {"sm_90a", "sm_100a", "sm_121a"}) {
    for (const emulator::Policy policy : kPolicies) {
      CAPTURE(arch);
      CAPTURE(static_cast<int>(policy));
      with_policy(arch, policy, 11);
      check_gemm(arch, 150, 136, 96, {}, "gemm_mma");
    }
  }
}

TEST_CASE("The gemm of few rows is exact on every target, however its warps and blocks share K") {
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a", "sm_121a"}) {
    for (const emulator::Policy policy : kPolicies) {
      CAPTURE(arch);
      CAPTURE(static_cast<int>(policy));
      with_policy(arch, policy, 19);
      check_gemm(arch, 5, 70, 600, {}, "gemm_few_rows");
      check_gemm(arch, 16, 40, 1032, {{"CHUNKS", 3}, {"BN", 32}, {"WARPS", 4}}, "gemm_few_rows");
      check_gemm(arch, 9, 33, 1160, {{"RING", 1}, {"STEPS", 2}, {"WARPS", 4}}, "gemm_few_rows");
    }
  }
  with_policy("sm_90a", emulator::Policy::random, 23);
  for (const std::int64_t split : {2, 4, 8}) check_gemm("sm_90a", 3, 50, 2056, {{"SPLIT", split}}, "gemm_few_rows");
  for (const std::int64_t rows : {0, 1, 16}) check_gemm("sm_90a", rows, 37, rows == 1 ? 0 : 77, {}, "gemm_few_rows");
}

TEST_CASE("The tensor-memory gemm is exact under every policy, by one block and by pairs") {
  for (const std::int64_t pair : {1, 2}) {
    for (const std::int64_t columns : {64, 128, 256}) {
      for (const emulator::Policy policy : kPolicies) {
        CAPTURE(pair);
        CAPTURE(columns);
        CAPTURE(static_cast<int>(policy));
        with_policy("sm_100a", policy, 13);
        check_gemm("sm_100a", 300, 264, 192, {{"PAIR", pair}, {"BN", columns}, {"STAGES", 2}}, "gemm_tcgen05");
      }
    }
  }
}

TEST_CASE("The tensor-memory gemm visits more tiles than there are blocks, stores ragged ends, and zeros without K") {
  with_policy("sm_100a", emulator::Policy::random, 17);
  check_gemm("sm_100a", 1500, 840, 64, {{"PAIR", 1}, {"BN", 64}, {"STAGES", 3}}, "gemm_tcgen05");
  check_gemm("sm_100a", 130, 136, 0, {{"PAIR", 2}}, "gemm_tcgen05");
  check_gemm("sm_103a", 40, 72, 72, {}, "gemm_tcgen05");
}

TEST_SUITE_END();
