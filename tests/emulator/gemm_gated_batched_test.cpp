// gemm_gated_batched beside gemm_gated on the emulator: each matrix of a batch has the bits that the same configuration
// gives it alone, wherever the matrices lie. Needs NVRTC.
#include <cstring>
#include <random>

#include <tma_jit/device.h>

#include "emulator/devices.h"
#include "emulator/numeric/float_bits.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

constexpr std::int64_t kM = 130, kN = 72, kK = 104, kBatch = 3;

// Matrices of bf16, or of f32 for results, `apart` elements from each other, whose rows have `pitch` elements.
struct Matrices {
  DeviceBuffer buffer;
  DType type;
  std::int64_t rows, columns, pitch, apart;

  std::uint64_t address(std::int64_t i) const {
    return buffer.address() + static_cast<std::uint64_t>(i * apart) * size_of(type);
  }
  Tensor batch() const { return Tensor::strided(buffer.address(), type, {kBatch, rows, columns}, {apart, pitch, 1}); }
  Tensor matrix(std::int64_t i) const { return Tensor::strided(address(i), type, {rows, columns}, {pitch, 1}); }
};

Matrices matrices_of(Engine& engine, DType type, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                     std::int64_t apart, unsigned seed) {
  const auto count = static_cast<std::size_t>(kBatch * rows * pitch + kBatch * apart);
  Matrices made{*DeviceBuffer::allocate(engine, count * size_of(type)), type, rows, columns, pitch, apart};
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution;
  std::vector<std::uint16_t> values(count * size_of(type) / 2);
  for (std::uint16_t& value : values) value = emulator::numeric::f32_to_bf16(distribution(generator));
  REQUIRE(made.buffer.upload(values.data(), values.size() * 2));
  return made;
}

void launch(Engine& engine, Request request) {
  auto launch = engine.prepare(std::move(request));
  REQUIRE_MESSAGE(launch, launch.error().text());
  const auto done = launch->launch();
  REQUIRE_MESSAGE(done, done.error().text());
}

std::vector<float> content_of(const Matrices& matrices) {
  std::vector<float> all(static_cast<std::size_t>(kBatch * matrices.rows * matrices.pitch + kBatch * matrices.apart));
  REQUIRE(matrices.buffer.download(all.data(), all.size() * 4));
  return all;
}

struct Configuration {
  const char *arch, *unit;
  std::map<std::string, std::int64_t> params;
};

// `apart_a` and the others are the distances of matrices.
void check_bits(const Configuration& configuration, std::int64_t apart_a, std::int64_t apart_b, std::int64_t pitch_d,
                std::int64_t apart_d) {
  CAPTURE(configuration.unit);
  Engine engine = emulated_engine(configuration.arch);
  const Matrices a = matrices_of(engine, DType::bf16, kM, kK, kK, apart_a, 1);
  const Matrices g = matrices_of(engine, DType::bf16, kN, kK, kK + 8, apart_b, 2);
  const Matrices b = matrices_of(engine, DType::bf16, kN, kK, kK, apart_b, 3);
  const Matrices together = matrices_of(engine, DType::f32, kM, kN, pitch_d, apart_d, 4);
  const Matrices alone = matrices_of(engine, DType::f32, kM, kN, pitch_d, apart_d, 4);
  launch(engine, {.kernel = "gemm_gated_batched",
                  .tensors = {{"A", a.batch()}, {"G", g.batch()}, {"B", b.batch()}, {"D", together.batch()}},
                  .params = configuration.params,
                  .file = std::string("gemm_gated_batched_") + configuration.unit});
  for (std::int64_t i = 0; i < kBatch; ++i)
    launch(engine, {.kernel = "gemm_gated",
                    .tensors = {{"A", a.matrix(i)}, {"G", g.matrix(i)}, {"B", b.matrix(i)}, {"D", alone.matrix(i)}},
                    .params = configuration.params,
                    .file = std::string("gemm_gated_") + configuration.unit});
  const std::vector<float> expected = content_of(alone), got = content_of(together);
  CHECK(std::memcmp(got.data(), expected.data(), got.size() * 4) == 0);  // what lies between results too
}

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("Each matrix of a batch of gated products has the bits that it has alone, wherever the matrices lie") {
  const Configuration configurations[] = {
      {"sm_90a", "wgmma", {{"BM", 64}, {"BN", 64}, {"STAGES", 3}, {"CLUSTER", 2}}},
      {"sm_100a", "tcgen05", {{"BN", 64}, {"STAGES", 3}, {"PAIR", 2}}},
      {"sm_80", "mma_cp_async", {{"VEC", 16}, {"BM", 64}, {"BN", 32}, {"WM", 16}}},
  };
  for (const Configuration& configuration : configurations) {
    check_bits(configuration, kM * kK, kN * (kK + 8), kN, kM * kN);                          // one after the other
    check_bits(configuration, kM * kK + 64, kN * (kK + 8) + 8, kN + 4, kM * (kN + 4) + 40);  // with space between them
    check_bits(configuration, 0, kN * (kK + 8), kN, kM * kN);  // one A for all, as a stride of 0
    check_bits(configuration, kM * kK, 0, kBatch * kN, kN);    // one G and B; results beside each other
  }
}

TEST_CASE("Batches of gated products in a chain read weights before they wait, and nothing else") {
  for (const char* arch : {"sm_90a", "sm_100a"}) {
    CAPTURE(arch);
    Engine engine = emulated_engine(arch);
    const auto packed = [&](std::int64_t rows, std::int64_t columns, unsigned seed) {
      return matrices_of(engine, DType::bf16, rows, columns, columns, rows * columns, seed);
    };
    const Matrices a = packed(kM, kK, 1), g = packed(kN, kK, 2), b = packed(kN, kK, 3), d = packed(kM, kN, 4),
                   g2 = packed(kK, kN, 5), b2 = packed(kK, kN, 6), d2 = packed(kM, kK, 7), e2 = packed(kM, kK, 8);
    const std::vector<Request> stages = {
        {.kernel = "gemm_gated_batched",
         .tensors = {{"A", a.batch()}, {"G", g.batch()}, {"B", b.batch()}, {"D", d.batch()}}},
        {.kernel = "gemm_gated_batched",
         .tensors = {{"A", d.batch()}, {"G", g2.batch()}, {"B", b2.batch()}, {"D", d2.batch()}}}};
    auto chain = engine.chain(stages);
    REQUIRE_MESSAGE(chain, chain.error().text());
    CHECK((*chain)[1].plan().geometry.programmatic);
    const auto launched = chain->launch();
    REQUIRE_MESSAGE(launched, launched.error().text());
    Request alone = stages[1];
    alone.tensors[3].tensor = e2.batch();
    launch(engine, alone);
    std::vector<std::uint16_t> got(static_cast<std::size_t>(kBatch * kM * kK)), expected(got.size());
    REQUIRE(d2.buffer.download(got.data(), got.size() * 2));
    REQUIRE(e2.buffer.download(expected.data(), expected.size() * 2));
    CHECK(got == expected);
  }
}

TEST_SUITE_END();
