// The cost model: cases computed by hand with round constants, and the shipped constants beside documented
// measurements.
#include <tma_jit/estimate.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <tma_jit/engine.h>
#include <tma_jit/warm_list.h>

#include "estimation/constants.h"
#include "estimation/demand.h"
#include "support/plans.h"

namespace tma_jit {
namespace {

using Bound = Estimate::Bound;
using Json = nlohmann::json;

// Whole shares, no latencies but a launch of 2 us, and the slowest unit alone counts.
Json round_constants() {
  const std::map<std::string, double> values = {
      {"launch_us", 2},     {"product_us", 0},     {"fill_us", 0},
      {"hbm_share", 1},     {"wgmma_share", 1},    {"tcgen05_share", 1},
      {"mma_share", 0.5},   {"fused_share", 0.5},  {"f32_share", 1},
      {"access_cycles", 0}, {"latency_cycles", 0}, {"shared_bytes_per_cycle", 128},
      {"step_cycles", 0},   {"tile_cycles", 0},    {"l2_bytes_per_cycle", 64},
      {"store_cycles", 0},  {"reduce_cycles", 0},  {"reduce_store_cycles", 0},
      {"sag", 0},           {"sag_traffic", 0},    {"sag_us", 1},
      {"overlap_sm", 1000}, {"overlap_hbm", 1000}};
  Json base = Json::object();
  for (const auto& [name, value] : values) base[name] = {{"value", value}, {"origin", "round"}};
  return {{"origin", "round numbers"}, {"base", base}, {"targets", Json::object()}};
}

// Ten SMs of 1,024 operations of tensor cores a cycle, at one cycle a nanosecond; half a megabyte a
// microsecond.
DeviceInfo small_device() {
  DeviceInfo device;
  device.name = "small";
  device.arch = "sm_90a";
  device.sm_count = 10;
  device.clock_mhz = 1000;
  device.memory_gb_per_s = 500;
  device.bf16_tflops = 10.24;
  device.f32_tflops = 1;
  device.smem_per_sm = 100000;
  device.threads_per_sm = 2048;
  return device;
}

Plan streaming_plan(std::uint32_t grid, double bytes) {
  Plan plan;
  plan.kernel = "stream";
  plan.geometry.grid = {grid, 1, 1};
  plan.geometry.block = {128, 1, 1};
  plan.geometry.smem_bytes = 90000;  // one block an SM
  plan.work.bytes = bytes;
  return plan;
}

// Tiles of 128 by 128 in steps of 64: 2,048 cycles of small_device's tensor cores a step.
Plan product_plan(std::int64_t m, std::int64_t n, std::int64_t k, std::uint32_t grid) {
  const double elements = double(m) * double(k) + double(n) * double(k) + double(m) * double(n);
  Plan plan = streaming_plan(grid, 2 * elements);
  plan.body = "#include \"device/tile/wgmma_tile.cuh\"";
  plan.work.flops = 2 * double(m) * double(n) * double(k);
  plan.dims = {{"M", m}, {"N", n}, {"K", k}};
  for (const auto& [name, value] : {std::pair("BM", 128), std::pair("BN", 128), std::pair("BK", 64)}) {
    plan.constants.push_back({name, Constant::Kind::integer, value, DType::f32, "param"});
  }
  Argument a = testing::boxed("A", 0, std::uint64_t(m), std::uint64_t(k));
  a.map.reset();  // copied without TMA: a block loads what it multiplies
  plan.arguments.push_back(std::move(a));
  return plan;
}

Estimate estimated(const Plan& plan, const DeviceInfo& device = small_device(), const Json& text = round_constants()) {
  const Result<Estimate> made = estimate(plan, device, text.dump());
  REQUIRE_MESSAGE(made.has_value(), made.error().line());
  return *made;
}

void set(Json& constants, const char* name, double value) {
  constants["base"][name]["value"] = value;
}

doctest::Approx about(double value) {
  return doctest::Approx(value).epsilon(0.002);
}

}  // namespace

TEST_CASE("estimate: a stream takes its bytes at the bandwidth") {
  const Estimate made = estimated(streaming_plan(25, 100e6));
  CHECK(made.time_us == about(2 + 200));
  CHECK(made.bound == Bound::hbm);
  CHECK(made.share == about(200.0 / 202));
  CHECK(made.waves == 3);
  CHECK(made.tail == about(0.5));
  CHECK(made.blocks_per_sm == 1);
  CHECK(made.hbm_bytes == 100e6);
  CHECK(made.described);
  CHECK(made.origin == "round numbers");
}

TEST_CASE("estimate: few blocks take in no more than their SMs can") {
  // One SM takes 64 bytes a nanosecond: 64 GB/s of the device's 500.
  const Estimate made = estimated(streaming_plan(1, 64e6));
  CHECK(made.terms.l2_us == about(1000));
  CHECK(made.time_us == about(1002));
  CHECK(made.bound == Bound::l2);
}

TEST_CASE("estimate: a small launch is bound by latency, an empty one is only that") {
  CHECK(estimated(streaming_plan(1, 1000)).bound == Bound::latency);
  const Estimate empty = estimated(streaming_plan(0, 0));
  CHECK(empty.time_us == about(2));
  CHECK(empty.share == 0);
  CHECK(empty.waves == 0);
  CHECK(empty.tail == 0);
  const Estimate no_rows = estimated(product_plan(0, 128, 640, 0));
  CHECK(no_rows.time_us == about(2));
}

TEST_CASE("estimate: filling L2 costs in proportion until it is full") {
  Json constants = round_constants();
  set(constants, "fill_us", 8);
  DeviceInfo device = small_device();
  device.l2_bytes = 40'000'000;
  CHECK(estimated(streaming_plan(100, 10e6), device, constants).time_us == about(2 + 20 + 2));
  CHECK(estimated(streaming_plan(100, 100e6), device, constants).time_us == about(2 + 200 + 8));
}

TEST_CASE("estimate: a product's waves and their tail") {
  const Estimate full = estimated(product_plan(1280, 128, 640, 10));
  CHECK(full.waves == 1);
  CHECK(full.tail == about(1));
  CHECK(full.terms.compute_us == about(20.48));  // ten steps of 2,048 cycles
  CHECK(full.time_us == about(22.48));
  CHECK(full.bound == Bound::tensor_cores);
  CHECK(full.share == about(20.48 / 22.48));
  const Estimate one_more = estimated(product_plan(1408, 128, 640, 10));
  CHECK(one_more.waves == 2);
  CHECK(one_more.tail == about(0.1));
  CHECK(one_more.time_us == about(2 + 40.96));
}

TEST_CASE("estimate: the slowest part of a step is the bound") {
  const Plan plan = product_plan(1280, 128, 640, 10);
  // A step's operands are 32,768 bytes; wgmma reads twice 64 + 128 rows of 128 bytes. 81,920 bytes in all.
  DeviceInfo device = small_device();
  device.bf16_tflops *= 8;  // 256 cycles a step
  const Estimate shared = estimated(plan, device);
  CHECK(shared.bound == Bound::shared_memory);
  CHECK(shared.time_us == about(2 + 6.4));
  CHECK(shared.shared_memory_bytes == 10 * 10 * 81920);

  Json constants = round_constants();
  set(constants, "shared_bytes_per_cycle", 1e6);
  const Estimate l2 = estimated(plan, device, constants);
  CHECK(l2.bound == Bound::l2);
  CHECK(l2.time_us == about(2 + 5.12));
  CHECK(l2.l2_bytes == 10 * 10 * 32768);

  set(constants, "latency_cycles", 10000);
  Plan staged = plan;
  staged.constants.push_back({"STAGES", Constant::Kind::integer, 4, DType::f32, "param"});
  const Estimate latency = estimated(staged, device, constants);
  CHECK(latency.bound == Bound::latency);
  CHECK(latency.time_us == about(2 + 25));

  device.memory_gb_per_s = 10;
  const Estimate hbm = estimated(plan, device);
  CHECK(hbm.bound == Bound::hbm);
  CHECK(hbm.time_us == about(2 + hbm.hbm_bytes / 10e3));
}

TEST_CASE("estimate: what a cluster shares is loaded once") {
  Plan plan = product_plan(1280, 128, 640, 10);
  plan.arguments.front() = testing::boxed("A", 0, 1280, 640);  // a box of 64 x 64: a quarter of the step's operands
  CHECK(estimated(plan).l2_bytes == 10 * 10 * 32768);
  plan.geometry.cluster = {4, 1, 1};
  CHECK(estimated(plan).l2_bytes == 10 * 10 * 8192);
}

TEST_CASE("estimate: parts of K run side by side and are added up") {
  Json constants = round_constants();
  set(constants, "reduce_cycles", 1000);
  Plan plan = product_plan(640, 128, 640, 10);
  plan.constants.push_back({"SPLIT", Constant::Kind::integer, 2, DType::f32, "param"});
  const Estimate made = estimated(plan, small_device(), constants);
  CHECK(made.waves == 1);
  CHECK(made.time_us == about(2 + 10.24 + 1));
}

TEST_CASE("estimate: a batch has as many tiles as its products together") {
  Plan plan = product_plan(640, 128, 640, 10);
  plan.work.flops *= 2;
  CHECK(estimated(plan).waves == 1);
  CHECK(estimated(plan).tail == about(1));
  plan.work.flops *= 2;
  CHECK(estimated(plan).waves == 2);
}

TEST_CASE("estimate: blocks of an SM share its units") {
  Plan plan = product_plan(2560, 128, 640, 20);
  plan.geometry.smem_bytes = 40000;
  const Estimate made = estimated(plan);
  CHECK(made.blocks_per_sm == 2);
  CHECK(made.waves == 1);
  CHECK(made.time_us == about(2 + 40.96));
}

TEST_CASE("estimate: tensor cores slow down in long launches") {
  Json constants = round_constants();
  set(constants, "sag", 1);
  set(constants, "sag_us", 20.48);
  CHECK(estimated(product_plan(1280, 128, 640, 10), small_device(), constants).time_us == about(2 + 1.5 * 20.48));
}

TEST_CASE("estimate: 8-bit elements double the rate, and mma reaches its own share") {
  Plan plan = product_plan(1280, 128, 640, 10);
  plan.body = "mma.sync";
  CHECK(estimated(plan).terms.compute_us == about(40.96));
  plan.arguments.front().dtype = DType::e4m3;
  CHECK(estimated(plan).terms.compute_us == about(20.48));
  CHECK(estimated(plan).peak_tflops == about(20.48));
  plan.arguments.front().dtype = DType::f32;  // read as tf32
  CHECK(estimated(plan).terms.compute_us == about(81.92));
}

TEST_CASE("estimate: an operand that L2 does not keep is read again") {
  // 20 tile rows in groups of 8: B is read 2.5 times. Half of L2 holds a group of A.
  Plan plan = product_plan(2560, 1280, 640, 10);
  DeviceInfo device = small_device();
  device.l2_bytes = 4'000'000;
  const double a = 2560 * 640 * 2, b = 1280 * 640 * 2, d = 2560 * 1280 * 2;
  CHECK(estimated(plan, device).hbm_bytes == about(a + 2.5 * b + d));
  device.l2_bytes = 2'000'000;  // it does not: each wave of 8 by 1.25 tiles reads A again
  CHECK(estimated(plan, device).hbm_bytes == about(8 * a + 2.5 * b + d));
  device.l2_bytes = 5'000'000;
  CHECK(estimated(plan, device).hbm_bytes == about(a + b + d));
}

TEST_CASE("estimate: a kernel that states no work moves its tensors") {
  Plan plan = streaming_plan(25, 0);
  plan.arguments = {testing::viewed("X", 0, 10'000'000), testing::viewed("Y", 0, 15'000'000)};
  const Estimate made = estimated(plan);
  CHECK_FALSE(made.described);
  CHECK(made.hbm_bytes == 100e6);
  CHECK(made.time_us == about(202));
}

TEST_CASE("estimate: arithmetic of CUDA cores can be the bound") {
  Plan plan = streaming_plan(10, 1e6);
  plan.work.flops = 100e6;  // at 1 TFLOP/s
  const Estimate made = estimated(plan);
  CHECK(made.bound == Bound::cuda_cores);
  CHECK(made.time_us == about(102));
}

TEST_CASE("estimate: faults of the constants and of the device are named") {
  const Plan plan = streaming_plan(1, 1000);
  const auto refusal = [&](const std::string& text) { return estimate(plan, small_device(), text).error().line(); };
  CHECK(refusal("{").find("constants of the estimate: ") != std::string::npos);
  CHECK(refusal("[]").find("\"base\" must be an object") != std::string::npos);
  Json constants = round_constants();
  constants["base"].erase("sag");
  CHECK(refusal(constants.dump()).find("sag has no number as its value") != std::string::npos);
  constants = round_constants();
  set(constants, "hbm_share", 0);
  CHECK(refusal(constants.dump()).find("hbm_share is 0") != std::string::npos);
  constants = round_constants();
  constants["targets"]["sm_90a"] = {{"origin", "its own"}, {"launch_us", {{"value", 7}}}};
  const Estimate own = estimated(plan, small_device(), constants);
  CHECK(own.time_us > 7);
  CHECK(own.origin == "its own");
  DeviceInfo unknown = small_device();
  unknown.memory_gb_per_s = 0;
  const Error error = estimate(plan, unknown).error();
  CHECK(error.code == ErrorCode::invalid_argument);
  CHECK(error.line() == "estimate: memory_gb_per_s of the device \"small\" is not known");
}

TEST_CASE("estimate: every shipped constant has an origin, and every known device an estimate") {
  const Json shipped = Json::parse(estimate_constants());
  for (const auto& entry : shipped["base"].items()) {
    CAPTURE(entry.key());
    CHECK(entry.value().at("origin").get<std::string>().size() > 4);
  }
  for (const std::string& name : known_devices()) {
    CAPTURE(name);
    const DeviceInfo device = device_named(name).value();
    const Estimate made = estimate(streaming_plan(100000, 1e9), device).value();
    CHECK(made.bound == Bound::hbm);
    CHECK(made.share > 0.7);
    CHECK(made.share < 1);
  }
}

TEST_CASE("estimate: measurements that the documentation states are met") {
  std::ifstream file(TMA_JIT_SOURCE_DIR "/tools/estimate/documented.jsonl");
  std::map<std::string, std::unique_ptr<Engine>> engines;
  std::vector<double> errors;
  for (std::string line; std::getline(file, line);) {
    CAPTURE(line);
    const Json point = Json::parse(line);
    const std::string device = point["device"];
    if (!engines.contains(device)) {
      Options options;
      options.device = Device::known(device);
      options.use_cache = false;
      engines[device] = std::make_unique<Engine>(options);
    }
    Engine& engine = *engines[device];
    const Request request = parse_warm_line(point["request"].dump()).value().request;
    const Result<Plan> plan = engine.plan(request);
    if (!plan) continue;  // a configuration that is gone
    const Estimate made = estimate(*plan, engine.device().value()).value();
    errors.push_back(std::abs(made.time_us / point["us"].get<double>() - 1));
    CHECK(errors.back() < 0.15);
  }
  REQUIRE(errors.size() > 40);
  std::ranges::sort(errors);
  CHECK(errors[errors.size() / 2] < 0.05);
}

}  // namespace tma_jit
