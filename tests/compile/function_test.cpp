#include <thread>

#include <doctest/doctest.h>

#include <tma_jit/device.h>

#include "support/engines.h"
#include "support/fake_driver.h"
#include "support/templates.h"

namespace tma_jit {

using namespace testing;

namespace {

struct Bench {
  FakeDriver fake;
  TemporaryFolder folder;
  Engine engine;

  Bench() : engine(engine_with(options(folder), fake.provider())) {
    fake.api().kernel_get_param_info = nullptr;
    REQUIRE(engine.add_template("scale.cu", kScale));
    REQUIRE(engine.add_template("tile.cu", kTile));
  }
  static Options options(const TemporaryFolder& folder) {
    Options options;
    options.cache_dir = folder.path();
    return options;
  }
  std::uint64_t word(std::size_t launch, std::size_t argument) const {
    std::uint64_t value = 0;
    std::memcpy(&value, fake.launches().at(launch).arguments.at(argument).data(), sizeof value);
    return value;
  }
};

Tensor matrix(std::uint64_t address, std::int64_t rows, std::int64_t columns) {
  return Tensor::row_major(address, DType::f32, {rows, columns});
}
Tensor vector(std::uint64_t address, std::int64_t extent) {
  return Tensor::row_major(address, DType::f32, {extent});
}

Stream stream(std::uintptr_t number) {
  return reinterpret_cast<Stream>(number);
}

}  // namespace

TEST_CASE("a shape is prepared once; other addresses are written into the maps") {
  Bench bench;
  bench.fake.argument_sizes = {128, 128, 8};
  auto tile = bench.engine.function({.kernel = "tile"});
  REQUIRE_MESSAGE(tile, tile.error().text());
  REQUIRE((*tile)({matrix(0x10000, 64, 64), matrix(0x20000, 64, 64)}));
  REQUIRE((*tile)({matrix(0x30000, 64, 64), matrix(0x20000, 64, 64)}, stream(7)));
  REQUIRE((*tile)({matrix(0x10000, 96, 64), matrix(0x20000, 96, 64)}));
  CHECK(bench.engine.stats().plans == 2);
  CHECK(bench.engine.stats().compiles == 1);
  CHECK(bench.fake.count("cuTensorMapEncodeTiled") == 4);
  CHECK(bench.fake.count("cuTensorMapReplaceAddress") == 1);
  CHECK(bench.word(0, 0) == 0x10000);
  CHECK(bench.word(1, 0) == 0x30000);
  CHECK(bench.word(1, 1) == 0x20000);
  CHECK(bench.fake.launches()[1].config.hStream == stream(7));
  CHECK(bench.fake.launches()[2].config.gridDimY == 3);
}

TEST_CASE("a call that has been seen makes two driver calls") {
  Bench bench;
  auto tile = bench.engine.function({.kernel = "tile"});
  REQUIRE(tile);
  bench.fake.contexts().push_back(bench.fake.primary());
  REQUIRE((*tile)({matrix(0x10000, 64, 64), matrix(0x20000, 64, 64)}));
  const std::size_t before = bench.fake.calls().size();
  REQUIRE((*tile)({matrix(0x10000, 64, 64), matrix(0x20000, 64, 64)}));
  CHECK(bench.fake.calls().size() == before + 2);
}

TEST_CASE("streams do not share a workspace, and each keeps its own") {
  Bench bench;
  bench.fake.argument_sizes = {16, 16, 8};
  auto scale = bench.engine.function({.kernel = "scale"});
  REQUIRE(scale);
  for (const std::uintptr_t number : {1, 2, 1, 2, 3}) {
    REQUIRE((*scale)({vector(0x10000, 64), vector(0x20000, 64)}, stream(number)));
  }
  CHECK(bench.word(0, 2) == bench.word(2, 2));
  CHECK(bench.word(1, 2) == bench.word(3, 2));
  CHECK(bench.word(0, 2) != bench.word(1, 2));
  CHECK(bench.word(4, 2) != bench.word(1, 2));
  CHECK(bench.fake.allocated() == 3);
}

TEST_CASE("the default streams of two threads do not share a workspace") {
  Bench bench;
  bench.fake.argument_sizes = {16, 16, 8};
  auto scale = bench.engine.function({.kernel = "scale"});
  REQUIRE(scale);
  const auto call_twice = [&] {
    for (int i = 0; i < 2; ++i) CHECK((*scale)({vector(0x10000, 64), vector(0x20000, 64)}, CU_STREAM_PER_THREAD));
  };
  call_twice();
  std::thread(call_twice).join();
  CHECK(bench.word(0, 2) == bench.word(1, 2));
  CHECK(bench.word(2, 2) == bench.word(3, 2));
  CHECK(bench.word(0, 2) != bench.word(2, 2));
  CHECK(bench.fake.allocated() == 2);
}

TEST_CASE("threads with changing shapes each launch what they asked for") {
  Bench bench;
  bench.fake.argument_sizes = {16, 16, 8, 4, 4};
  auto scale = bench.engine.function({.kernel = "scale"});
  REQUIRE(scale);
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) {
        const std::int64_t n = 64 + i % 10;
        const auto x = vector(0x10000 + static_cast<std::uint64_t>(n) * 0x1000, n);
        if (!(*scale)({x, vector(0x20000, n)}, stream(static_cast<std::uintptr_t>(thread)))) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  const auto launches = bench.fake.launches();
  CHECK(launches.size() == 800);
  int wrong = 0;
  for (const auto& launch : launches) {
    int n = 0;
    std::memcpy(&n, launch.arguments[4].data(), sizeof n);
    std::uint64_t address = 0;
    std::memcpy(&address, launch.arguments[0].data(), sizeof address);
    if (address != 0x10000 + static_cast<std::uint64_t>(n) * 0x1000) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(bench.engine.stats().compiles == 1);
}

TEST_CASE("a call's values of scalars take the place of the request's, for that call") {
  Bench bench;
  bench.fake.argument_sizes = {16, 16, 8, 4};
  auto scale = bench.engine.function({.kernel = "scale", .scalars = {{"alpha", 2.0}}});
  REQUIRE(scale);
  const Tensor tensors[] = {vector(0x10000, 64), vector(0x20000, 64)};
  REQUIRE((*scale)(tensors, 2, {{"alpha", 0.5}}));
  REQUIRE((*scale)(tensors, 2));
  REQUIRE((*scale)(tensors, 2, {{"alpha", -3}}));
  std::vector<float> values;
  for (const auto& launch : bench.fake.launches()) {
    float& value = values.emplace_back();
    std::memcpy(&value, launch.arguments.at(3).data(), sizeof value);
  }
  CHECK(values == std::vector<float>{0.5F, 2, -3});
  CHECK(bench.engine.stats().plans == 1);
  CHECK((*scale)(tensors, 2, {{"beta", 1.0}}).error().text() == "not_found: scale: there is no scalar \"beta\"");
  CHECK((*scale)(tensors, 2, {{"alpha", 1e300}}).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("what is wrong with a call is said") {
  Bench bench;
  CHECK(bench.engine.function({.kernel = "scales"}).error().code == ErrorCode::not_found);
  CHECK(bench.engine.function({.kernel = "scale", .tensors = {{"X", vector(1, 1)}}}).error().message ==
        "scale: a function's request gives no tensors; each call does");
  auto scale = bench.engine.function({.kernel = "scale"});
  REQUIRE(scale);
  CHECK((*scale)({vector(0x10000, 64)}).error().text() == "invalid_argument: scale: 1 tensors given, it takes 2: X, Y");
  CHECK((*scale)({vector(0x10000, 64), vector(0, 64)}).error().message == "scale: the address of Y is null");
  CHECK(!(*scale)({vector(0x10000, 64), vector(0x20000, 63)}));
  bench.fake.fail("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_FAILED);
  CHECK((*scale)({vector(0x10000, 64), vector(0x20000, 64)}).error().message.starts_with("cuLaunchKernelEx(scale"));
}

TEST_CASE("memory: copies stay in range, and measuring takes medians over what was asked for") {
  Bench bench;
  auto x = DeviceBuffer::allocate(bench.engine, 400);
  auto y = DeviceBuffer::allocate(bench.engine, 400);
  REQUIRE(x);
  REQUIRE(y);
  REQUIRE(x->fill(7));
  std::vector<unsigned char> bytes(400);
  REQUIRE(x->download(bytes.data(), 100, 300));
  CHECK(bytes[99] == 7);
  CHECK(bytes[100] == 0);
  CHECK(x->upload(bytes.data(), 101, 300).error().message ==
        "cannot upload 101 bytes at offset 300: the buffer has 400 bytes");
  CHECK(x->download(bytes.data(), 1, static_cast<std::size_t>(-1)).error().code == ErrorCode::invalid_argument);

  auto launch = bench.engine.prepare(
      {.kernel = "scale", .tensors = {{"X", vector(x->address(), 100)}, {"Y", vector(y->address(), 100)}}});
  REQUIRE(launch);
  const std::size_t before = bench.fake.launches().size();
  const auto measured = measure(bench.engine, *launch, {.warmups = 2, .repeats = 5, .host_launches = 40});
  REQUIRE_MESSAGE(measured, measured.error().text());
  CHECK(bench.fake.launches().size() - before == 2 + 5 + 40);
  CHECK(measured->median_us == doctest::Approx(250));
  CHECK(measured->repeats == 5);
  CHECK(measured->flushed_l2);
  CHECK(measured->host_us > 0);
  CHECK(bench.fake.count("cuEventCreate") == bench.fake.count("cuEventDestroy"));
  CHECK(bench.fake.count("cuStreamCreate") == bench.fake.count("cuStreamDestroy"));
  CHECK(!measure(bench.engine, *launch, {.repeats = 0}));
}

}  // namespace tma_jit
