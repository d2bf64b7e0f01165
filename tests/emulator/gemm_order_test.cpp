// The order in which gemm sums and takes its tiles, on the emulator: rows whose bits depend on no other row, and tiles
// that blocks draw. Needs NVRTC.
#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include <tma_jit/device.h>

#include "emulator/devices.h"
#include "emulator/numeric/float_bits.h"
#include "support/engines.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

struct Product {
  std::string arch;
  DType type = DType::bf16;
  std::int64_t m, n, k;
  std::map<std::string, std::int64_t> params;
  std::string file;
  int sm_budget = 0;
  std::string kernel = "gemm";
};

std::vector<std::uint8_t> random_numbers(std::int64_t count, DType type, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution;
  const auto size = size_of(type);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) * size);
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    const float value = distribution(generator);
    const std::uint16_t half = emulator::numeric::f32_to_bf16(value);
    const auto byte = static_cast<std::uint8_t>(generator() % 0x78 | (generator() & 0x80U));
    std::memcpy(&bytes[i],
                size == 4   ? static_cast<const void*>(&value)
                : size == 2 ? static_cast<const void*>(&half)
                            : &byte,
                size);
  }
  return bytes;
}

DeviceBuffer uploaded(Engine& engine, const std::vector<std::uint8_t>& bytes) {
  DeviceBuffer buffer = *DeviceBuffer::allocate(engine, std::max<std::size_t>(bytes.size(), 1));
  if (!bytes.empty()) REQUIRE(buffer.upload(bytes.data(), bytes.size()));
  return buffer;
}

// D in f32, `launches` times by the same launch; all of them must be equal.
std::vector<float> sums_of(const Product& p, int launches = 1) {
  Engine engine = emulated_engine(p.arch);
  const DeviceBuffer a = uploaded(engine, random_numbers(p.m * p.k, p.type, 1)),
                     b = uploaded(engine, random_numbers(p.n * p.k, p.type, 2)),
                     g = uploaded(engine, random_numbers(p.n * p.k, p.type, 3));
  std::vector<float> d(static_cast<std::size_t>(p.m * p.n)), first;
  DeviceBuffer device_d = *DeviceBuffer::allocate(engine, std::max<std::size_t>(d.size(), 1) * 4);
  Request request{.kernel = p.kernel, .params = p.params, .sm_budget = p.sm_budget, .file = p.file};
  request.tensors = {{"A", Tensor::row_major(a.address(), p.type, {p.m, p.k})},
                     {"B", Tensor::row_major(b.address(), p.type, {p.n, p.k})},
                     {"D", Tensor::row_major(device_d.address(), DType::f32, {p.m, p.n})}};
  if (p.kernel == "gemm_gated") request.tensors.push_back({"G", Tensor::row_major(g.address(), p.type, {p.n, p.k})});
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch, launch.error().text());
  for (int i = 0; i < launches; ++i) {
    std::ranges::fill(d, -12345.0F);
    REQUIRE(device_d.upload(d.data(), d.size() * 4));
    const auto done = launch->launch();
    REQUIRE_MESSAGE(done, done.error().text());
    REQUIRE(device_d.download(d.data(), d.size() * 4));
    if (i == 0) first = d;
    REQUIRE(d == first);
  }
  return d;
}

// Whether the first rows of a product of m rows have the bits that they have among others.
bool same_rows(Product p, std::int64_t m, const std::vector<float>& among) {
  p.m = m;
  const std::vector<float> d = sums_of(p);
  return std::memcmp(d.data(), among.data(), d.size() * 4) == 0;
}

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("A row has the same bits whatever the other rows and their number, where the request asks for it") {
  for (const std::string arch : {"sm_90a", "sm_100a", "sm_121a"}) {
    for (const DType type : {DType::bf16, DType::f32, DType::e4m3}) {
      CAPTURE(arch);
      CAPTURE(name_of(type));
      Product p{.arch = arch, .type = type, .m = 300, .n = 200, .k = 2080, .params = {{"INVARIANT", 1}}, .file = {}};
      const std::vector<float> among = sums_of(p);
      for (const std::int64_t m : {1, 7, 16, 64, 130}) {
        CAPTURE(m);
        CHECK(same_rows(p, m, among));
      }
    }
  }
}

TEST_CASE("A row of gated products has the same bits whatever the other rows and their number") {
  for (const std::string arch : {"sm_90a", "sm_100a", "sm_121a"}) {
    for (const DType type : {DType::bf16, DType::e4m3}) {
      CAPTURE(arch);
      CAPTURE(name_of(type));
      Product p{.arch = arch, .type = type, .m = 150, .n = 136, .k = 2080, .params = {{"INVARIANT", 1}}, .file = {}};
      p.kernel = "gemm_gated";
      const std::vector<float> among = sums_of(p);
      for (const std::int64_t m : {1, 16, 65}) {
        CAPTURE(m);
        CHECK(same_rows(p, m, among));
      }
    }
  }
}

TEST_CASE("Every tile shape of wgmma sums in the order of the others, operands swapped or not") {
  for (const DType type : {DType::bf16, DType::e4m3}) {
    Product p{.arch = "sm_90a", .type = type, .m = 130, .n = 200, .k = 1056, .params = {{"INVARIANT", 1}}, .file = {}};
    p.file = "gemm_wgmma";
    p.params["BM"] = 128, p.params["BN"] = 96;
    const std::vector<float> among = sums_of(p);
    p.params = {{"INVARIANT", 1}, {"BM", 64}, {"BN", 64}};
    CHECK(same_rows(p, 130, among));
    if (type == DType::bf16) {
      p.params = {{"INVARIANT", 1}, {"BM", 128}, {"BN", 128}, {"PINGPONG", 1}};
      CHECK(same_rows(p, 130, among));
    }
    p.params = {{"INVARIANT", 1}, {"SWAP", 1}, {"BM", 72}, {"BN", 128}};
    CHECK(same_rows(p, 130, among));
    p.file = "gemm_wgmma_split";
    for (const std::int64_t rows : {8, 64}) {
      p.params = {{"INVARIANT", 1}, {"BM", rows}};
      CHECK(same_rows(p, 130, among));
    }
    p.params = {{"BM", 64}, {"CHUNKS", 3}};
    CHECK_FALSE(same_rows(p, 130, among));  // which is why it is refused below
  }
}

TEST_CASE("What would sum in another order is refused, with the reason") {
  Engine engine = emulated_engine("sm_90a");
  const auto refusal = [&](const char* file, std::map<std::string, std::int64_t> params) {
    params["INVARIANT"] = 1;
    const auto plan = engine.plan(
        {.kernel = "gemm", .dims = {{"M", 16}, {"N", 512}, {"K", 4096}}, .params = std::move(params), .file = file});
    return plan ? std::string() : plan.error().text();
  };
  CHECK(refusal("gemm_wgmma_split", {{"SPLIT", 2}}).find("a sum over K that is divided has other bits") !=
        std::string::npos);
  CHECK(refusal("gemm_few_rows", {}).find("INVARIANT = 1 is not among {0}") != std::string::npos);
  CHECK(refusal("gemm_mma", {}).find("because their sums have other bits") != std::string::npos);
  CHECK(refusal("", {}).empty());
}

TEST_CASE("Blocks that share K add up its chunks to the same bits, launch after launch, however many run at a time") {
  using emulator::Policy;
  const std::map<std::string, std::int64_t> configs[] = {
      {{"BM", 64}, {"BN", 64}, {"STAGES", 2}, {"CHUNKS", 16}},                 // more chunks than slices
      {{"BM", 112}, {"BN", 64}, {"STAGES", 2}, {"CHUNKS", 5}},                 // and fewer slices
      {{"BM", 64}, {"BN", 128}, {"STAGES", 2}, {"CHUNKS", 3}, {"SPLIT", 2}}};  // slices of each block of a cluster
  for (const auto& params : configs) {
    Product p{.arch = "sm_90a", .m = 150, .n = 136, .k = 1096, .params = params, .file = "gemm_wgmma_split"};
    const std::vector<float> expected = sums_of(p);
    for (const Policy policy : {Policy::eager, Policy::lazy, Policy::random, Policy::split, Policy::starved}) {
      for (const std::uint32_t blocks : {2, 4, 64}) {
        CAPTURE(static_cast<int>(policy));
        CAPTURE(blocks);
        emulator::Settings settings;
        settings.policy = policy;
        settings.seed = 17;
        settings.resident_blocks = blocks;
        device_of("sm_90a").settings = settings;
        CHECK(sums_of(p, 3) == expected);
      }
    }
    device_of("sm_90a").settings = {};
  }
}

TEST_CASE("Blocks draw every tile once, launch after launch, under every policy") {
  using emulator::Policy;
  const std::pair<const char*, std::map<std::string, std::int64_t>> configs[] = {
      {"gemm_wgmma", {{"BM", 64}, {"BN", 64}, {"STAGES", 2}}},
      {"gemm_wgmma", {{"BM", 128}, {"BN", 64}, {"STAGES", 3}, {"PINGPONG", 1}}},
      {"gemm_wgmma", {{"BM", 128}, {"BN", 160}, {"STAGES", 6}, {"PINGPONG", 1}}},  // whose consumers store in turn
      {"gemm_f32_wgmma", {{"BM", 64}, {"BN", 32}, {"STAGES", 2}, {"TERMS", 3}}},
      {"gemm_gated_wgmma", {{"BM", 64}, {"BN", 32}, {"STAGES", 2}}},
      {"gemm_gated_wgmma", {{"BM", 128}, {"BN", 80}, {"STAGES", 3}, {"PINGPONG", 1}}},
  };
  for (const auto& [file, params] : configs) {
    Product p{.arch = "sm_90a", .m = 700, .n = 328, .k = 96, .params = params, .file = file};
    if (params.contains("TERMS")) p.type = DType::f32;
    if (p.file == "gemm_gated_wgmma") p.kernel = "gemm_gated";
    const std::vector<float> expected = sums_of(p);
    p.params["DYNAMIC"] = 1;
    p.sm_budget = 5;  // blocks that take many tiles each
    for (const Policy policy : {Policy::eager, Policy::lazy, Policy::random, Policy::split, Policy::starved}) {
      CAPTURE(static_cast<int>(policy));
      emulator::Settings settings;
      settings.policy = policy;
      settings.seed = 31;
      device_of("sm_90a").settings = settings;
      CHECK(sums_of(p, 3) == expected);
    }
    device_of("sm_90a").settings = {};
  }
}

TEST_CASE("Dynamic schedules without a counter have a block for each tile") {
  for (const auto& [arch, file] : {std::pair{"sm_121a", "gemm_mma"}, {"sm_80", "gemm_mma_cp_async"}}) {
    Product p{.arch = arch, .m = 700, .n = 700, .k = 64, .params = {{"BM", 64}, {"BN", 64}}, .file = file};
    const std::vector<float> expected = sums_of(p);
    p.params["DYNAMIC"] = 1;
    CHECK(sums_of(p, 2) == expected);
    const auto plan = emulated_engine(arch).plan(
        {.kernel = "gemm", .dims = {{"M", 700}, {"N", 700}, {"K", 64}}, .params = p.params, .file = file});
    REQUIRE(plan);
    CHECK(plan->geometry.grid[0] == 121);
  }
}

TEST_SUITE_END();
