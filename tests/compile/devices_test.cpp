// Several devices, several engines and several threads in one process, over a fake driver that knows what belongs to
// which context.
#include <thread>

#include <doctest/doctest.h>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include "support/engines.h"
#include "support/fake_driver.h"
#include "support/templates.h"

namespace tma_jit {

using namespace testing;

namespace {

// Two fake devices, and engines on either of them.
struct Bench {
  FakeDriver fake;
  TestLog log;

  Bench() {
    fake.device_count = 2;
    fake.api().kernel_get_param_info = nullptr;
  }
  Engine engine(int device) {
    Engine made =
        engine_with({.device = Device::cuda(device), .use_cache = false, .log = log.callback()}, fake.provider());
    REQUIRE(made.add_template("scale.cu", kScale));
    REQUIRE(made.add_template("tile.cu", kTile));
    return made;
  }
};

Request scale_of(const DeviceBuffer& x, const DeviceBuffer& y, std::int64_t n) {
  return {.kernel = "scale",
          .tensors = {{"X", Tensor::row_major(x.address(), DType::f32, {n})},
                      {"Y", Tensor::row_major(y.address(), DType::f32, {n})}}};
}

Request tile_of(const DeviceBuffer& x, const DeviceBuffer& y) {
  return {.kernel = "tile",
          .tensors = {{"X", Tensor::row_major(x.address(), DType::f32, {32, 32})},
                      {"Y", Tensor::row_major(y.address(), DType::f32, {32, 32})}}};
}

// Everything an application does with one engine; true when all of it worked.
bool use(Engine& engine, std::int64_t n) {
  const std::size_t bytes = std::max<std::size_t>(static_cast<std::size_t>(n) * 4, 4096);
  auto x = DeviceBuffer::allocate(engine, bytes);
  auto y = DeviceBuffer::allocate(engine, bytes);
  if (!x || !y || !x->fill(1)) return false;
  const std::vector<float> values(static_cast<std::size_t>(n), 2.0F);
  std::vector<float> back(values.size());
  if (!x->upload(values.data(), values.size() * 4) || !x->download(back.data(), back.size() * 4)) return false;
  auto launch = engine.prepare(scale_of(*x, *y, n));
  auto tile = engine.prepare(tile_of(*x, *y));
  auto function = engine.function({.kernel = "scale"});
  if (!launch || !tile || !function) return false;
  const Tensor in = Tensor::row_major(x->address(), DType::f32, {n});
  const Tensor out = Tensor::row_major(y->address(), DType::f32, {n});
  bool worked = launch->launch() && launch->rebind("Y", x->address()) && launch->launch();
  worked = worked && tile->launch() && tile->rebind("X", y->address()) && tile->launch();
  worked = worked && (*function)({in, out}) && (*function)({out, in}) && synchronize(engine);
  worked = worked && measure(engine, *launch, {.warmups = 1, .repeats = 2, .host_launches = 2});
  return worked && back == values;
}

}  // namespace

TEST_CASE("an engine a device: each call is made in its device's context, and the caller's stays current") {
  Bench bench;
  const auto mine = reinterpret_cast<CUcontext>(std::uintptr_t{0x99});
  for (const CUcontext current : {CUcontext{}, mine, bench.fake.primary(0), bench.fake.primary(1)}) {
    bench.fake.contexts().clear();
    if (current != nullptr) bench.fake.contexts().push_back(current);
    const std::vector<CUcontext> before = bench.fake.contexts();
    {
      Engine first = bench.engine(0);
      Engine second = bench.engine(1);
      const std::size_t launched = bench.fake.launches().size();
      CHECK(use(first, 100));
      const std::size_t switched = bench.fake.launches().size();
      CHECK(use(second, 100));
      const auto launches = bench.fake.launches();
      REQUIRE(switched > launched);
      for (std::size_t i = launched; i < launches.size(); ++i) {
        CHECK(launches[i].context == bench.fake.primary(i < switched ? 0 : 1));
      }
    }
    CHECK(bench.fake.contexts() == before);
    CHECK(bench.fake.misplaced() == std::vector<std::string>());
    CHECK(bench.fake.allocated() == 0);
    CHECK(bench.fake.retained() == 0);
  }
}

TEST_CASE("several threads on several engines of two devices at once") {
  Bench bench;
  {
    Engine engines[] = {bench.engine(0), bench.engine(1), bench.engine(0), bench.engine(1)};
    std::atomic<int> worked = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 3; ++round) worked += use(engines[i % 4], 64 + i + round) ? 1 : 0;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(worked == 48);
    for (const Engine& engine : engines) {
      CHECK(engine.stats().compiles == 2);  // engines share nothing
      CHECK(engine.stats().loads == 2);
    }
  }
  CHECK(bench.fake.misplaced() == std::vector<std::string>());
  CHECK(bench.fake.allocated() == 0);
  CHECK(bench.fake.retained() == 0);
}

TEST_CASE("what outlives its engine is used and freed in its own context, on whichever thread and context") {
  Bench bench;
  auto engine = std::make_unique<Engine>(bench.engine(1));
  auto x = DeviceBuffer::allocate(*engine, 4096);
  auto y = DeviceBuffer::allocate(*engine, 4096);
  REQUIRE(x);
  REQUIRE(y);
  auto launch = engine->prepare(scale_of(*x, *y, 64));  // with a workspace of the engine's
  REQUIRE(launch);
  engine.reset();
  CHECK(bench.fake.retained() == 1);
  std::thread elsewhere([&, mine = std::optional(*std::move(launch)), memory = std::optional(*std::move(x))]() mutable {
    bench.fake.contexts().push_back(bench.fake.primary(0));
    CHECK(mine->launch());
    mine.reset();
    memory.reset();
    CHECK(bench.fake.contexts() == std::vector{bench.fake.primary(0)});
  });
  elsewhere.join();
  CHECK(bench.fake.launches().back().context == bench.fake.primary(1));
  CHECK(bench.fake.allocated() == 1);
  CHECK(bench.fake.misplaced() == std::vector<std::string>());
}

TEST_CASE("devices of two architectures have kernels of their own") {
  Bench bench;
  bench.fake.attributes_of[1] = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 12},
                                 {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 101376}};
  Engine hopper = bench.engine(0);
  Engine blackwell = bench.engine(1);
  CHECK(hopper.device().value().arch == "sm_90a");
  CHECK(blackwell.device().value().arch == "sm_120a");
  const Request request{.kernel = "scale", .dims = {{"N", 64}}};
  const auto key_of = [&](Engine& engine) { return engine.key(engine.plan(request).value()).value().hex(); };
  CHECK(key_of(hopper) != key_of(blackwell));
  CHECK(use(hopper, 64));
  CHECK(use(blackwell, 64));
}

TEST_CASE("the fake notices what is used in a context that is not its own") {
  Bench bench;
  Engine engine = bench.engine(1);
  auto memory = DeviceBuffer::allocate(engine, 64);
  REQUIRE(memory);
  bench.fake.contexts().push_back(bench.fake.primary(0));
  bench.fake.api().memset_d8_async(memory->address(), 0, 64, nullptr);
  CHECK(bench.fake.misplaced() == std::vector<std::string>{"cuMemsetD8Async"});
}

}  // namespace tma_jit
