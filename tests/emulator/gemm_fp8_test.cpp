// gemm kernels on 8-bit floats, compared exactly: sums of products of small integers are exact in every order. Needs
// NVRTC.
#include <random>

#include <tma_jit/device.h>

#include "emulator/devices.h"
#include "emulator/numeric/convert.h"
#include "support/engines.h"
#include "support/products.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;
using emulator::numeric::Format;

namespace {

struct Case {
  const char* arch;
  const char* file;
  DType type;
  Format format;
  DType out;
  Format out_format;
  std::map<std::string, std::int64_t> params;
};

std::vector<std::uint8_t> small_integers(std::int64_t count, Format format, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::uint8_t> values(static_cast<std::size_t>(count));
  for (auto& value : values)
    value = static_cast<std::uint8_t>(emulator::numeric::nearest(format, static_cast<int>(generator() % 5) - 2));
  return values;
}

std::vector<float> values_of(const std::vector<std::uint8_t>& bits, Format format) {
  std::vector<float> values;
  values.reserve(bits.size());
  for (const std::uint8_t each : bits) values.push_back(static_cast<float>(emulator::numeric::value_of(format, each)));
  return values;
}

DeviceBuffer uploaded(Engine& engine, const std::vector<std::uint8_t>& values) {
  DeviceBuffer buffer = *DeviceBuffer::allocate(engine, values.size());
  REQUIRE(buffer.upload(values.data(), values.size()));
  return buffer;
}

void check_gemm(const Case& c, std::int64_t m, std::int64_t n, std::int64_t k) {
  Engine engine = emulated_engine(c.arch);
  const auto a = small_integers(m * k, c.format, 1), b = small_integers(n * k, c.format, 2);
  const DeviceBuffer device_a = uploaded(engine, a), device_b = uploaded(engine, b);
  const auto size = static_cast<std::size_t>(emulator::numeric::container_bytes(c.out_format));
  std::vector<std::uint8_t> d(static_cast<std::size_t>(m * n) * size, 0x7f);
  const DeviceBuffer device_d = uploaded(engine, d);
  Request request{.kernel = "gemm", .params = c.params, .file = c.file};
  request.tensors = {{"A", Tensor::row_major(device_a.address(), c.type, {m, k})},
                     {"B", Tensor::row_major(device_b.address(), c.type, {n, k})},
                     {"D", Tensor::row_major(device_d.address(), c.out, {m, n})}};
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch, launch.error().text());
  const auto done = launch->launch();
  REQUIRE_MESSAGE(done, done.error().text());
  REQUIRE(device_d.download(d.data(), d.size()));
  const std::vector<float> sums = products({m, n, k, values_of(a, c.format), values_of(b, c.format)});
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::uint64_t got = 0;
    std::memcpy(&got, d.data() + i * size, size);
    wrong += got != emulator::numeric::nearest(c.out_format, sums[i]) ? 1 : 0;
  }
  REQUIRE(wrong == 0);
}

void check_policies(const Case& c, std::int64_t m, std::int64_t n, std::int64_t k) {
  using emulator::Policy;
  for (const Policy policy : {Policy::eager, Policy::lazy, Policy::random, Policy::split, Policy::starved}) {
    CAPTURE(static_cast<int>(policy));
    emulator::Settings settings;
    settings.policy = policy;
    settings.seed = 19;
    device_of(c.arch).settings = settings;
    check_gemm(c, m, n, k);
  }
  device_of(c.arch).settings = {};
}

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("The tensor-memory gemm multiplies 8-bit floats exactly under every policy") {
  for (const std::int64_t pair : {1, 2}) {
    CAPTURE(pair);
    const std::map<std::string, std::int64_t> params = {{"PAIR", pair}, {"BN", 128}, {"STAGES", 2}};
    check_policies({"sm_100a", "gemm_tcgen05", DType::e4m3, Format::e4m3, DType::bf16, Format::bf16, params}, 300, 264,
                   208);
    check_policies({"sm_100a", "gemm_tcgen05", DType::e5m2, Format::e5m2, DType::f32, Format::f32, params}, 130, 136,
                   400);
  }
  check_gemm({"sm_103a", "gemm_tcgen05", DType::e4m3, Format::e4m3, DType::f16, Format::f16, {}}, 40, 72, 144);
}

TEST_CASE("The warp-specialised gemm multiplies 8-bit floats exactly under every policy") {
  check_policies({"sm_90a", "gemm_wgmma", DType::e4m3, Format::e4m3, DType::bf16, Format::bf16, {}}, 200, 136, 208);
  check_policies({"sm_90a", "gemm_wgmma", DType::e5m2, Format::e5m2, DType::f32, Format::f32, {{"CLUSTER", 2}}}, 300,
                 264, 144);
  check_gemm({"sm_90a", "gemm_wgmma", DType::e4m3, Format::e4m3, DType::f16, Format::f16, {{"FAST", 1}}}, 70, 136, 400);
}

TEST_SUITE_END();
