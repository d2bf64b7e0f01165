#include <tma_jit/engine.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include <doctest/doctest.h>

#include <tma_jit/cache.h>
#include <tma_jit/device.h>

#include "cache/store.h"
#include "compile/engine_bench.h"
#include "support/engines.h"
#include "support/fake_driver.h"
#include "support/templates.h"

namespace tma_jit {

using namespace testing;

TEST_CASE("the whole way from a request to the bytes of a launch") {
  FakeBench bench;
  bench.fake.argument_sizes = {16, 16, 8, 4, 4};
  Engine engine = bench.engine();
  auto launch = engine.prepare(engine_bench_request());
  REQUIRE_MESSAGE(launch, launch.error().text());
  CHECK(launch->artifact().compiled);
  CHECK(launch->artifact().resources.registers > 0);
  CHECK(launch->plan().kernel == "scale");
  REQUIRE(launch->launch());
  const auto made = bench.fake.launches().at(0);
  CHECK(made.config.gridDimX == 8);
  CHECK(made.config.blockDimX == 128);
  float alpha = 0;
  int n = 0;
  std::memcpy(&alpha, made.arguments[3].data(), sizeof alpha);
  std::memcpy(&n, made.arguments[4].data(), sizeof n);
  CHECK(alpha == 2.0F);
  CHECK(n == 1000);
  CHECK(bench.fake.allocated() == 1);  // the workspace
  CHECK(bench.fake.contexts().empty());

  const Stats stats = engine.stats();
  CHECK(stats.plans == 1);
  CHECK(stats.compiles == 1);
  CHECK(stats.disk_misses == 1);
  CHECK(stats.disk_writes == 1);
  CHECK(stats.loads == 1);
  CHECK(stats.compile_ms > 0);
}

TEST_CASE("the second time it is in memory; in another engine on disk; a dim is no constant") {
  FakeBench bench;
  Engine engine = bench.engine();
  REQUIRE(engine.prepare(engine_bench_request(1000)));
  const auto again = engine.prepare(engine_bench_request(2000));
  REQUIRE(again);
  CHECK(!again->artifact().compiled);
  CHECK(engine.stats().compiles == 1);
  CHECK(engine.stats().memory_hits == 1);
  CHECK(engine.stats().loads == 1);

  Engine other = bench.engine();
  const auto warm = other.prepare(engine_bench_request());
  REQUIRE(warm);
  CHECK(!warm->artifact().compiled);
  CHECK(other.stats().compiles == 0);
  CHECK(other.stats().disk_hits == 1);
  CHECK(warm->artifact().bytes == again->artifact().bytes);
  CHECK(warm->artifact().key == again->artifact().key);
  CHECK(warm->artifact().compile_ms == doctest::Approx(again->artifact().compile_ms));
  CHECK(warm->artifact().resources.registers == again->artifact().resources.registers);
}

TEST_CASE("sixteen threads that ask for one kernel compile and load it once") {
  FakeBench bench;
  Engine engine = bench.engine();
  std::atomic<int> prepared = 0, compiled = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      const auto launch = engine.prepare(engine_bench_request());
      if (launch) ++prepared;
      if (launch && launch->artifact().compiled) ++compiled;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(prepared == 16);
  CHECK(compiled == 1);
  CHECK(engine.stats().compiles == 1);
  CHECK(engine.stats().memory_hits == 15);
  CHECK(engine.stats().loads == 1);
  CHECK(bench.fake.count("cuLibraryLoadData") == 1);
}

TEST_CASE("different kernels compile beside each other") {
  FakeBench bench;
  Engine engine = bench.engine();
  std::atomic<int> prepared = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      if (engine.prepare(engine_bench_request(1000, "a + " + std::to_string(i) + ".0f"))) ++prepared;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(prepared == 4);
  CHECK(engine.stats().compiles == 4);
}

TEST_CASE("a failed compile is never published and is tried again") {
  FakeBench bench;
  Engine engine = bench.engine();
  for (int i = 1; i <= 2; ++i) {
    const auto launch = engine.prepare(engine_bench_request(1000, "a +* 1"));
    REQUIRE(!launch);
    CHECK(launch.error().code == ErrorCode::compile);
    CHECK(engine.stats().compile_failures == static_cast<std::uint64_t>(i));
  }
  CHECK(engine.stats().disk_writes == 0);
  CHECK(cache_stat(engine.cache_dir()).value().entries == 0);
  CHECK(bench.log.warnings().empty());
}

TEST_CASE("a cache folder that cannot be made is one warning, and everything works") {
  FakeBench bench;
  std::ofstream(bench.folder.path() / "file") << "in the way";
  Options options = bench.options();
  options.cache_dir = bench.folder.path() / "file" / "cache";
  Engine engine = bench.engine(options);
  CHECK(engine.prepare(engine_bench_request()));
  CHECK(engine.prepare(engine_bench_request(1000, "a + 1.0f")));
  CHECK(engine.stats().compiles == 2);
  CHECK(engine.stats().disk_writes == 0);
  REQUIRE(bench.log.warnings().size() == 1);
  CHECK(bench.log.warnings()[0].find((bench.folder.path() / "file").string()) != std::string::npos);
  CHECK(!engine.environment().cache_writable);
}

TEST_CASE(
    "whatever ails the folder, from the start or under way, is one warning, and memory serves what was compiled") {
  const auto in_threads = [](Engine& engine, const char* constant) {
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        const std::string hook = "a + " + std::to_string(i % 4) + constant;
        if (engine.prepare(engine_bench_request(1000, hook)) && engine.prepare(engine_bench_request(2000, hook)))
          ++right;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 8);
  };
  const std::function<void(const std::filesystem::path&)> ailments[] = {
      [](const auto& root) { std::ofstream(root) << "in the way"; },
      [](const auto& root) { std::filesystem::create_symlink(root.parent_path(), root); },
      [](const auto& root) { std::filesystem::create_symlink(root, root); },
      [](const auto& root) { std::filesystem::create_symlink("/proc/1/no", root); },
  };
  for (const auto& spoil : ailments) {
    FakeBench bench;
    const Options options = bench.options();
    spoil(options.cache_dir);
    Engine engine = bench.engine(options);
    in_threads(engine, ".5f");
    CHECK(engine.stats().compiles == 4);
    CHECK(engine.stats().memory_hits == 12);
    CHECK(engine.stats().disk_writes == 0);
    CHECK(bench.log.warnings().size() == 1);
  }
  FakeBench bench;
  const Options options = bench.options();
  Engine engine = bench.engine(options);
  in_threads(engine, ".5f");
  CHECK(engine.stats().disk_writes == 4);
  CHECK(bench.log.warnings().empty());
  std::filesystem::remove_all(options.cache_dir);
  std::ofstream(options.cache_dir) << "in the way";
  in_threads(engine, ".5f");
  in_threads(engine, ".25f");
  CHECK(engine.stats().compiles == 8);
  CHECK(engine.stats().disk_write_failures == 4);
  CHECK(bench.log.warnings().size() == 1);
}

TEST_CASE("a cache that is off is neither read nor written") {
  FakeBench bench;
  Options options = bench.options();
  options.use_cache = false;
  Engine engine = bench.engine(options);
  REQUIRE(engine.prepare(engine_bench_request()));
  CHECK(engine.stats().disk_misses == 0);
  CHECK(!std::filesystem::exists(options.cache_dir));
}

TEST_CASE("a process without NVRTC finds what another one compiled, and says what it lacks otherwise") {
  FakeBench bench;
  Key key;
  {
    Engine engine = bench.engine();
    const auto launch = engine.prepare(engine_bench_request());
    REQUIRE(launch);
    key = launch->artifact().key;
  }
  Options options = bench.options();
  options.nvrtc = bench.folder.path() / "libnvrtc.so.99";
  Engine engine = bench.engine(options);
  const auto warm = engine.prepare(engine_bench_request());
  REQUIRE_MESSAGE(warm, warm.error().text());
  CHECK(warm->artifact().key == key);
  CHECK(engine.stats().disk_hits == 1);
  REQUIRE(engine.prepare(engine_bench_request(5)));
  CHECK(engine.stats().memory_hits == 1);
  CHECK(engine.key(warm->plan()).value() == key);

  const auto cold = engine.prepare(engine_bench_request(1000, "a + 1.0f"));
  REQUIRE(!cold);
  CHECK(cold.error().code == ErrorCode::nvrtc);
  CHECK(cold.error().text().find("libnvrtc.so.99") != std::string::npos);
  CHECK(cold.error().detail.find("has no scale for sm_90a by any of the 1 compilers recorded there") !=
        std::string::npos);
}

TEST_CASE("an engine for a device by name plans and builds without a driver, and prepare says why it cannot") {
  FakeBench bench;
  Options options = bench.options();
  options.device = Device::known("h100");
  Engine engine = engine_with(options, no_driver());
  REQUIRE(engine.add_template("scale.cu", kScale));
  const Request request{.kernel = "scale", .dims = {{"N", 1000}}};
  const auto plan = engine.plan(request);
  REQUIRE_MESSAGE(plan, plan.error().text());
  CHECK(plan->arch == "sm_90a");
  const auto cubin = engine.build(*plan);
  REQUIRE_MESSAGE(cubin, cubin.error().text());
  CHECK(cubin->compiled);
  CHECK(!engine.build(*plan)->compiled);
  CHECK(engine.key(*plan).value() == cubin->key);
  CHECK(engine.build_ptx(*plan)->find(".target sm_90a") != std::string::npos);
  const auto launch = engine.prepare(request);
  REQUIRE(!launch);
  CHECK(launch.error().code == ErrorCode::unsupported);
  CHECK(launch.error().message.find("\"h100\"") != std::string::npos);
}

TEST_CASE("a target stands in for a device that is not there; without one the error says what would do") {
  FakeBench bench;
  Options options = bench.options();
  options.arch = "sm_121";
  Engine engine = engine_with(options, no_driver());
  CHECK(engine.device()->arch == "sm_121a");
  CHECK(engine.device()->smem_per_block == 101376);

  options.arch.clear();
  Engine bare = engine_with(options, no_driver());
  const auto device = bare.device();
  REQUIRE(!device);
  CHECK(device.error().message == "no CUDA driver");
  CHECK(device.error().detail.starts_with("libcuda.so.1: not found\nplanning and building need no GPU"));
  CHECK(!bare.environment().driver_version);
  CHECK(bare.environment().compiler);
}

TEST_CASE("a target of the device's own generation keeps the device's facts; another brings its own") {
  FakeBench bench;
  bench.fake.device_attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 12;
  bench.fake.device_attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 84;
  Options options = bench.options();
  options.arch = "sm_120f";
  CHECK(bench.engine(options).device()->arch == "sm_120f");
  CHECK(bench.engine(options).device()->sm_count == 84);
  options.arch = "sm_90";
  CHECK(bench.engine(options).device()->arch == "sm_90a");
  CHECK(bench.engine(options).device()->sm_count == 132);
  options.arch = "sm_ninety";
  CHECK(bench.engine(options).device().error().code == ErrorCode::invalid_argument);
}

TEST_CASE("limits tighten what is planned with") {
  FakeBench bench;
  Options options = bench.options();
  options.limits = DeviceInfo{};
  options.limits->sm_count = 48;
  options.limits->smem_per_block = 101376;
  options.limits->cluster_max = 1;
  Engine engine = bench.engine(options);
  const auto device = engine.device();
  REQUIRE(device);
  CHECK(device->sm_count == 48);
  CHECK(device->smem_per_block == 101376);
  CHECK(device->smem_per_sm == 233472);
  CHECK(device->arch == "sm_90a");
}

TEST_CASE("preparing while a stream captures breaks nothing") {
  FakeBench bench;
  Engine engine = bench.engine();
  REQUIRE(engine.device());
  bench.fake.capturing = true;
  {
    auto launch = engine.prepare(engine_bench_request());
    REQUIRE_MESSAGE(launch, launch.error().text());
    CHECK(launch->launch());
  }
  CHECK(!bench.fake.capture_broken);
}

TEST_CASE("launches and functions outlive their engine, and everything is given back at last") {
  FakeBench bench;
  {
    std::optional<Engine> engine(bench.engine());
    auto launch = engine->prepare(engine_bench_request());
    REQUIRE(launch);
    auto function = engine->function({.kernel = "scale"});
    REQUIRE_MESSAGE(function, function.error().text());
    engine.reset();
    CHECK(launch->launch());
    CHECK((*function)({Tensor::row_major(std::uint64_t{0x10000}, DType::f32, {64}),
                       Tensor::row_major(std::uint64_t{0x20000}, DType::f32, {64})}));
  }
  CHECK(bench.fake.allocated() == 0);
  CHECK(bench.fake.retained() == 0);
  CHECK(bench.fake.count("cuLibraryUnload") == bench.fake.count("cuLibraryLoadData"));
}

TEST_CASE("what the environment found is told") {
  FakeBench bench;
  Engine engine = bench.engine();
  const Environment environment = engine.environment();
  CHECK(environment.driver_version.value() == 13000);
  CHECK(environment.device->name == "NVIDIA H100 80GB HBM3");
  REQUIRE(environment.compiler);
  CHECK(!environment.compiler->archs.empty());
  CHECK(environment.cache_dir == engine.cache_dir());
  CHECK(environment.cache_writable);
}

TEST_CASE("every failing driver call of prepare comes back as its error, and the next prepare works") {
  for (const char* call : {"cuDevicePrimaryCtxRetain", "cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction",
                           "cuFuncGetAttribute", "cuMemAlloc", "cuStreamCreate", "cuMemsetD8Async",
                           "cuStreamSynchronize", "cuCtxGetCurrent", "cuCtxPushCurrent"}) {
    FakeBench bench;
    Engine engine = bench.engine();
    bench.fake.fail(call, CUDA_ERROR_OUT_OF_MEMORY);
    const auto launch = engine.prepare(engine_bench_request());
    REQUIRE(!launch);
    CHECK(launch.error().code == ErrorCode::driver);
    CHECK(launch.error().message.starts_with(call));
    bench.fake.succeed(call);
    CHECK(engine.prepare(engine_bench_request()));
    CHECK(bench.fake.contexts().empty());
    CHECK(engine.stats().compiles == 1);
  }
}

}  // namespace tma_jit
