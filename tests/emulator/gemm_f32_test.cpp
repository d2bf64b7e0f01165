// Products of f32 at the accuracy of f32, on the emulator, whose units cut operands and sums off as a device's do.
// Needs NVRTC.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <tma_jit/device.h>

#include "emulator/devices.h"
#include "support/engines.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

struct Problem {
  std::int64_t m, n, k;
};

std::vector<float> normal(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = distribution(generator);
  return values;
}

DeviceBuffer uploaded(Engine& engine, const std::vector<float>& values) {
  DeviceBuffer buffer = *DeviceBuffer::allocate(engine, std::max<std::size_t>(values.size(), 1) * 4);
  if (!values.empty()) REQUIRE(buffer.upload(values.data(), values.size() * 4));
  return buffer;
}

std::vector<float> product(const std::string& arch, const std::string& file, const Problem& p,
                           const std::vector<float>& a, const std::vector<float>& b,
                           std::map<std::string, std::int64_t> params) {
  Engine engine = emulated_engine(arch);
  const DeviceBuffer device_a = uploaded(engine, a), device_b = uploaded(engine, b);
  std::vector<float> d(static_cast<std::size_t>(p.m * p.n), NAN);
  const DeviceBuffer device_d = uploaded(engine, d);
  Request request{.kernel = "gemm", .params = std::move(params), .file = file};
  request.tensors = {{"A", Tensor::row_major(device_a.address(), DType::f32, {p.m, p.k})},
                     {"B", Tensor::row_major(device_b.address(), DType::f32, {p.n, p.k})},
                     {"D", Tensor::row_major(device_d.address(), DType::f32, {p.m, p.n})}};
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch, launch.error().text());
  const auto done = launch->launch();
  REQUIRE_MESSAGE(done, done.error().text());
  REQUIRE(device_d.download(d.data(), d.size() * 4));
  return d;
}

// The largest error, relative to the root mean square of the products.
double error_of(const Problem& p, const std::vector<float>& a, const std::vector<float>& b,
                const std::vector<float>& d) {
  double largest = 0, squares = 0;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k)
        sum += static_cast<double>(a[static_cast<std::size_t>(i * p.k + k)]) * b[static_cast<std::size_t>(j * p.k + k)];
      squares += sum * sum;
      const double error = std::fabs(d[static_cast<std::size_t>(i * p.n + j)] - sum);
      largest = std::isnan(error) ? INFINITY : std::max(largest, error);
    }
  }
  return largest / std::sqrt(squares / static_cast<double>(p.m * p.n));
}

double error_with(const std::string& arch, const std::string& file, const Problem& p,
                  const std::map<std::string, std::int64_t>& params) {
  const std::vector<float> a = normal(p.m * p.k, 1), b = normal(p.n * p.k, 2);
  return error_of(p, a, b, product(arch, file, p, a, b, params));
}

constexpr emulator::Policy kPolicies[] = {emulator::Policy::eager, emulator::Policy::lazy, emulator::Policy::random,
                                          emulator::Policy::split, emulator::Policy::starved};

// What three products of tf32 leave of each is 2^-20 at most; sums of normal numbers average it out. Units of tensor
// cores cut the sum off at every step along K, of which 1700 elements have more than two hundred.
constexpr double kF32Error = 0x1p-20, kLongF32Error = 0x1p-18, kTf32Error = 0x1p-12;

struct File {
  const char* arch;
  const char* name;
  std::map<std::string, std::int64_t> params;
};

const File kFiles[] = {
    {"sm_90a", "gemm_f32_wgmma", {}},
    {"sm_90a", "gemm_f32_wgmma", {{"BM", 128}, {"BN", 160}, {"STAGES", 3}}},
    {"sm_90a", "gemm_f32_wgmma", {{"BM", 128}, {"BN", 32}, {"STAGES", 2}, {"DYNAMIC", 1}}},
    {"sm_90a", "gemm_mma", {}},
    {"sm_100a", "gemm_mma", {}},
    {"sm_121a", "gemm_mma", {}},
    {"sm_80", "gemm_mma_cp_async", {}},
    {"sm_121a", "gemm_mma_cp_async", {}},
};

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("Three terms keep the accuracy of f32 on every target under every policy") {
  for (File file : kFiles) {
    CAPTURE(file.arch);
    CAPTURE(file.name);
    file.params["TERMS"] = 3;
    for (const emulator::Policy policy : kPolicies) {
      CAPTURE(static_cast<int>(policy));
      emulator::Settings settings;
      settings.policy = policy;
      settings.seed = 29;
      device_of(file.arch).settings = settings;
      CHECK(error_with(file.arch, file.name, {200, 136, 96}, file.params) < kF32Error);
    }
    device_of(file.arch).settings = {};
    CHECK(error_with(file.arch, file.name, {130, 72, 1700}, file.params) < kLongF32Error);
    CHECK(error_with(file.arch, file.name, {1, 4, 4}, file.params) < kF32Error);
  }
}

TEST_CASE("One term has the accuracy of tf32, and nothing is summed where K is 0") {
  CHECK(error_with("sm_121a", "gemm_mma", {64, 64, 96}, {}) > kTf32Error);
  CHECK(error_with("sm_90a", "", {64, 64, 96}, {}) > kTf32Error);
  for (const float value : product("sm_90a", "gemm_f32_wgmma", {70, 64, 0}, {}, {}, {{"TERMS", 3}})) CHECK(value == 0);
}

TEST_CASE("NaN stays NaN in the terms of f32, and an infinity becomes one") {
  const Problem p = {64, 64, 32};
  for (const auto& [file, arch] : {std::pair{"gemm_f32_wgmma", "sm_90a"}, std::pair{"gemm_mma", "sm_121a"}}) {
    for (const std::uint32_t bits : {0x7fffffffU, 0x7fc00000U, 0xffffffffU, 0x7f800001U, 0x7f800000U}) {
      CAPTURE(bits);
      std::vector<float> a = normal(p.m * p.k, 3), b = normal(p.n * p.k, 4);
      std::memcpy(&a[32 * 5 + 7], &bits, sizeof bits);
      const std::vector<float> d = product(arch, file, p, a, b, {{"TERMS", 3}});
      for (std::int64_t i = 0; i < p.m * p.n; ++i)
        REQUIRE(std::isnan(d[static_cast<std::size_t>(i)]) == (i / p.n == 5));
    }
  }
}

TEST_SUITE_END();
