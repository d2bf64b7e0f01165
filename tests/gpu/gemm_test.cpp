// gemm against float64 references computed on the host: sizes that are not multiples of anything, empty dims, strided
// and offset tensors, every type, every file.
#include <cmath>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <tma_jit/tma_jit.h>

#include "gpu/kernel_run.h"

namespace tma_jit {

using namespace testing;

namespace {

struct GemmCase {
  std::int64_t m, n, k;
  DType in = DType::bf16, out = DType::bf16;
  std::int64_t offset = 0;  // elements before each tensor, a multiple of 8
  std::int64_t extra = 0;   // elements added to each pitch, a multiple of 8
  std::map<std::string, std::int64_t> params = {};
  bool padded = true;  // pitches are multiples of 16 bytes, as TMA needs them, before `extra`
};

std::string gemm_disagreement(Engine& engine, const std::string& file, const GemmCase& c) {
  const auto pitch = [&](std::int64_t columns, DType type) {
    return (c.padded ? padded(columns, type) : columns) + c.extra;
  };
  HostTensor a(c.in, {c.m, c.k, pitch(c.k, c.in), c.offset});
  HostTensor b(c.in, {c.n, c.k, pitch(c.k, c.in), c.offset});
  HostTensor d(c.out, {c.m, c.n, pitch(c.n, c.out), c.offset});
  a.fill_random(1);
  b.fill_random(2);
  for (HostTensor* tensor : {&a, &b, &d}) require_ok(tensor->send(engine));
  run(engine, {.kernel = "gemm",
               .tensors = {{"A", a.matrix()}, {"B", b.matrix()}, {"D", d.matrix()}},
               .params = c.params,
               .file = file});
  require_ok(d.fetch());
  const auto product = [&](std::int64_t row, std::int64_t column) {
    double sum = 0;
    for (std::int64_t k = 0; k < c.k; ++k) sum += a.at(row, k) * b.at(column, k);
    return sum;
  };
  // Products of standard normals: their sum has the size of sqrt(K). mma.sync adds 16 products at a time to an f32 sum
  // and cuts it off, so that the loss grows with the number of steps.
  const auto k = static_cast<double>(c.k);
  const double accumulation = 0x1p-23 * std::sqrt(k) * (16 + k / 16);
  return d.compare(product, unit_roundoff(c.out), accumulation);
}

void check_gemm(Engine& engine, const std::string& file, const GemmCase& c) {
  const std::string disagreement = gemm_disagreement(engine, file, c);
  CHECK_MESSAGE(disagreement.empty(), fmt::format("{} {}x{}x{} {}->{}: {}", file, c.m, c.n, c.k, name_of(c.in),
                                                  name_of(c.out), disagreement));
}

const std::vector<GemmCase>& shared_gemm_cases() {
  static const std::vector<GemmCase> cases = {
      {1, 1, 1},
      {1, 8, 8},
      {2, 3, 5},
      {64, 64, 64},
      {65, 63, 66},
      {127, 129, 31},
      {128, 256, 64},
      {129, 257, 65},
      {200, 136, 96},
      {333, 777, 100},
      {1, 1000, 17},
      {1000, 1, 257},
      {257, 640, 520},
      {0, 64, 64},
      {64, 0, 64},
      {64, 72, 0},
      {0, 0, 0},
      {33, 7, 0},
      {150, 70, 90, DType::bf16, DType::bf16, 8, 24},
      {150, 70, 90, DType::bf16, DType::f32, 8, 40},
      {150, 71, 90, DType::f16, DType::f16, 16, 8},
      {97, 101, 103, DType::f16, DType::f32},
      {97, 101, 103, DType::bf16, DType::f32},
      {97, 101, 103, DType::f16, DType::bf16},
      {97, 101, 103, DType::bf16, DType::f16},
  };
  return cases;
}

// The engine of a small Blackwell's limits on this device: what the portable file is for.
Options gb10_limits() {
  Options options;
  options.limits = *device_named("gb10");
  return options;
}

}  // namespace

TEST_CASE("gemm agrees with float64 at every edge") {
  Engine engine;
  for (const GemmCase& c : shared_gemm_cases()) check_gemm(engine, "gemm_wgmma", c);
}

TEST_CASE("gemm agrees with float64 in every tile shape") {
  Engine engine;
  const auto check_tile = [&](decltype(GemmCase::params) params, DType result = DType::bf16) {
    check_gemm(engine, "gemm_wgmma", {391, 523, 200, DType::bf16, result, 0, 0, std::move(params)});
  };
  for (const std::int64_t cluster : {1, 2}) {
    for (const auto& [bm, bn, stages] : {std::array{64, 64, 8},
                                         {64, 128, 8},
                                         {64, 256, 5},
                                         {128, 64, 8},
                                         {128, 128, 6},
                                         {128, 192, 4},
                                         {128, 256, 4},
                                         {192, 128, 4},
                                         {192, 64, 5}}) {
      check_tile({{"BM", bm}, {"BN", bn}, {"STAGES", stages}, {"CLUSTER", cluster}, {"SHARE_N", 1}});
    }
  }
  for (const std::int64_t cluster : {1, 2}) {
    for (const auto& [bm, bn, stages] : {std::array{64, 80, 8}, {128, 160, 5}, {192, 144, 4}, {256, 128, 4}})
      check_tile({{"BM", bm}, {"BN", bn}, {"STAGES", stages}, {"CLUSTER", cluster}, {"SHARE_N", 2}});
  }
  for (const std::int64_t pingpong : {0, 1}) {
    for (const auto& [bm, bn, stages] : {std::array{56, 128, 6}, {80, 192, 5}, {128, 128, 5}, {160, 128, 5}})
      check_tile({{"SWAP", 1}, {"BM", bm}, {"BN", bn}, {"STAGES", stages}, {"PINGPONG", pingpong}});
  }
  check_tile({{"BM", 192}, {"BN", 160}, {"STAGES", 4}}, DType::f32);
  check_tile({{"BM", 128}, {"BN", 96}, {"STAGES", 6}}, DType::f32);
}

TEST_CASE("the portable gemm agrees with float64 at every edge within a GB10's limits") {
  Engine engine(gb10_limits());
  for (const GemmCase& c : shared_gemm_cases()) check_gemm(engine, "gemm_mma", c);
}

TEST_CASE("the portable gemm agrees with float64 in every tile shape within a GB10's limits") {
  Engine engine(gb10_limits());
  for (const auto& [bm, bn, wm, wn, stages] : {std::array{64, 64, 32, 32, 8},
                                               {128, 128, 64, 32, 5},
                                               {128, 256, 64, 64, 3},
                                               {128, 128, 64, 64, 4},
                                               {128, 128, 32, 64, 5},
                                               {64, 128, 32, 32, 6}}) {
    check_gemm(engine, "gemm_mma",
               {391,
                523,
                200,
                DType::bf16,
                DType::bf16,
                0,
                0,
                {{"BM", bm}, {"BN", bn}, {"WM", wm}, {"WN", wn}, {"STAGES", stages}}});
  }
  check_gemm(engine, "gemm_mma",
             {391,
              523,
              200,
              DType::bf16,
              DType::bf16,
              0,
              0,
              {{"BM", 128}, {"BN", 128}, {"STEP", 128}, {"WM", 64}, {"WN", 32}, {"STAGES", 2}}});
}

TEST_CASE("the cp.async gemm agrees with float64 at every edge") {
  Engine engine;
  for (const GemmCase& c : shared_gemm_cases()) check_gemm(engine, "gemm_mma_cp_async", c);
}

TEST_CASE("the cp.async gemm agrees with float64 in every tile shape") {
  Engine engine;
  for (const std::int64_t vec : {16, 8, 4, 2}) {
    for (const auto& [bm, bn, step, wm, wn, stages, blocks] : {std::array{64, 64, 128, 32, 32, 4, 1},
                                                               {128, 128, 128, 64, 32, 5, 1},
                                                               {128, 256, 128, 64, 64, 4, 1},
                                                               {128, 256, 64, 64, 64, 3, 1},
                                                               {256, 128, 64, 64, 64, 6, 1},
                                                               {128, 128, 64, 64, 64, 2, 2},
                                                               {64, 128, 64, 32, 64, 3, 2},
                                                               {64, 64, 64, 32, 32, 2, 3}}) {
      if (vec == 4 && step == 128) continue;
      GemmCase c{391, 523, 200};
      c.params = {{"VEC", vec}, {"BM", bm}, {"BN", bn},         {"STEP", step},
                  {"WM", wm},   {"WN", wn}, {"STAGES", stages}, {"BLOCKS", blocks}};
      check_gemm(engine, "gemm_mma_cp_async", c);
    }
  }
}

TEST_CASE("the gemm of few rows agrees with float64 at every edge") {
  Engine engine;
  for (const std::int64_t m : {0, 1, 2, 7, 8, 9, 15, 16}) {
    for (const auto& [n, k] :
         {std::pair{1, 1}, {3, 5}, {64, 64}, {129, 65}, {777, 0}, {0, 64}, {1000, 1027}, {520, 4096}}) {
      check_gemm(engine, "gemm_few_rows", {m, n, k});
      check_gemm(engine, "gemm_few_rows", {m, n, k, DType::f16, DType::f32, 8, 40});
      check_gemm(engine, "gemm_few_rows", {m, n, k, DType::e4m3, DType::f32, 16, 48});
      check_gemm(engine, "gemm_few_rows", {m, n, k, DType::e4m3, DType::bf16, 0, 1});
    }
  }
  for (const std::int64_t extra : {1, 2, 4}) {  // rows that begin at multiples of 2, 4 and 8 bytes
    GemmCase c{5, 101, 520, DType::bf16, DType::f16, 0, extra};
    check_gemm(engine, "gemm_few_rows", c);
    c.m = 16;
    check_gemm(engine, "gemm_few_rows", c);
  }
}

TEST_CASE("the gemm of few rows agrees with float64 however its warps and blocks share K") {
  Engine engine;
  for (const std::int64_t m : {3, 16}) {
    for (const std::int64_t ring : {0, 1}) {
      for (const auto& [bn, warps, steps] : {std::array{16, 8, 2}, {16, 16, 2}, {32, 4, 3}, {64, 4, 2}, {64, 8, 1}}) {
        for (const auto& [split, chunks] : {std::pair{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 2}, {1, 3}, {1, 16}}) {
          GemmCase c{m, 139, 5000};
          c.params = {{"ROWS", m <= 8 ? 8 : 16}, {"BN", bn},        {"WARPS", warps},
                      {"STEPS", steps},          {"RING", ring},    {"BLOCKS", 1},
                      {"SPLIT", split},          {"CHUNKS", chunks}};
          check_gemm(engine, "gemm_few_rows", c);
        }
      }
    }
  }
}

TEST_CASE("tensors that break TMA's rules get a gemm all the same") {
  Engine engine;
  for (const auto& [offset, extra] : {std::array{0, 0}, {1, 0}, {2, 2}, {4, 4}, {3, 5}, {0, 1}}) {
    for (const auto& [m, n, k] : {std::array{1, 1, 1}, {129, 257, 65}, {97, 101, 103}, {64, 72, 0}, {520, 500, 1000}}) {
      for (const DType out : {DType::bf16, DType::f32}) {
        GemmCase c{m, n, k, DType::bf16, out, offset, extra};
        c.padded = false;
        check_gemm(engine, "", c);
      }
    }
  }
}

TEST_CASE("gemm applies the epilogue before it rounds") {
  Engine engine;
  for (const std::string file : {"gemm_wgmma", "gemm_mma", "gemm_mma_cp_async"}) {
    HostTensor a(DType::bf16, {70, 40}), b(DType::bf16, {90, 40}), d(DType::f32, {70, 90, 92});
    a.fill_random(3);
    b.fill_random(4);
    for (HostTensor* tensor : {&a, &b, &d}) require_ok(tensor->send(engine));
    run(engine, {.kernel = "gemm",
                 .tensors = {{"A", a.matrix()}, {"B", b.matrix()}, {"D", d.matrix()}},
                 .hooks = {{"epilogue", "(x > 0 ? x : 0) + 100 * row + column"}},
                 .file = file});
    require_ok(d.fetch());
    const auto expected = [&](std::int64_t row, std::int64_t column) {
      double sum = 0;
      for (std::int64_t k = 0; k < 40; ++k) sum += a.at(row, k) * b.at(column, k);
      return (sum > 0 ? sum : 0) + 100.0 * static_cast<double>(row) + static_cast<double>(column);
    };
    CHECK(d.compare(expected, 0x1p-23, 1e-4) == "");
  }
}

}  // namespace tma_jit
