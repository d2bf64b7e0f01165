// The engine on the emulator: kernels of the repository from request to checked result. Needs NVRTC.
#include <cmath>
#include <cstring>

#include <tma_jit/device.h>
#include <tma_jit/lost_arrival.h>

#include "emulator/devices.h"
#include "support/engines.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("A copy through plain loads runs on every target and is exact") {
  for (const char* arch : {"sm_90a", "sm_100a", "sm_120a", "sm_121a"}) {
    CAPTURE(arch);
    Engine engine = emulated_engine(arch);
    constexpr std::int64_t kCount = 10007;
    std::vector<std::uint16_t> from(kCount), to(kCount, 0);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint16_t>(i * 2654435761U);
    auto s = DeviceBuffer::allocate(engine, kCount * 2), d = DeviceBuffer::allocate(engine, kCount * 2);
    REQUIRE(s);
    REQUIRE(d);
    REQUIRE(s->upload(from.data(), kCount * 2));
    Request request{.kernel = "copy"};
    request.tensors = {{"S", Tensor::row_major(s->address(), DType::u16, {kCount})},
                       {"D", Tensor::row_major(d->address(), DType::u16, {kCount})}};
    auto launch = engine.prepare(request);
    REQUIRE_MESSAGE(launch, launch.error().text());
    const auto done = launch->launch();
    REQUIRE_MESSAGE(done, done.error().text());
    REQUIRE(d->download(to.data(), kCount * 2));
    CHECK(from == to);
  }
}

TEST_CASE("What one engine built ahead of time a sealed one finds, and it compiles nothing") {
  TemporaryFolder cache;
  Options options{.device = Device::parse("emulator:sm_90a").value(), .cache_dir = cache.path()};
  const Request request{.kernel = "copy", .dims = {{"N", 4096}}};
  Engine before(options);
  const auto plan = before.plan(request);
  REQUIRE(plan);
  const auto built = before.build(*plan);
  REQUIRE_MESSAGE(built, built.error().text());
  CHECK(built->form == Artifact::Form::ptx);
  CHECK(before.key(*plan).value() == built->key);

  Engine sealed(options);
  sealed.seal();
  CHECK(sealed.explain(*plan).value().found);
  const auto launch = sealed.prepare(*plan);
  REQUIRE_MESSAGE(launch, launch.error().text());
  CHECK(sealed.stats().compiles == 0);
  CHECK(sealed.stats().disk_hits == 1);
  CHECK(launch->artifact().key == built->key);
  const auto refused = sealed.prepare({.kernel = "copy", .dims = {{"N", 4096}}, .params = {{"THREADS", 128}}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::sealed);
}

TEST_CASE("A map with a hook runs, aligned and not") {
  Engine engine = emulated_engine("sm_90a");
  constexpr std::int64_t kCount = 3001;
  std::vector<float> a(kCount), b(kCount), y(kCount, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i) * 0.25F;
    b[i] = 3.0F - static_cast<float>(i);
  }
  auto device_a = DeviceBuffer::allocate(engine, kCount * 4), device_b = DeviceBuffer::allocate(engine, kCount * 4);
  auto device_y = DeviceBuffer::allocate(engine, kCount * 4);
  REQUIRE(device_a->upload(a.data(), kCount * 4));
  REQUIRE(device_b->upload(b.data(), kCount * 4));
  Request request{.kernel = "map"};
  request.params = {{"INPUTS", 2}};
  request.hooks = {{"apply", "a * b + 1.0f"}};
  request.tensors = {{"A", Tensor::row_major(device_a->address(), DType::f32, {kCount})},
                     {"B", Tensor::row_major(device_b->address(), DType::f32, {kCount})},
                     {"Y", Tensor::row_major(device_y->address(), DType::f32, {kCount})}};
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch, launch.error().text());
  const auto done = launch->launch();
  REQUIRE_MESSAGE(done, done.error().text());
  REQUIRE(device_y->download(y.data(), kCount * 4));
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(y[i] == std::fma(a[i], b[i], 1.0F));
}

TEST_CASE("Host memory is refused") {
  Engine engine = emulated_engine("sm_90a");
  const std::vector<std::uint16_t> host(64);
  const auto d = DeviceBuffer::allocate(engine, 128);
  Request request{.kernel = "copy"};
  request.tensors = {{"S", Tensor::row_major(reinterpret_cast<std::uint64_t>(host.data()), DType::u16, {64})},
                     {"D", Tensor::row_major(d->address(), DType::u16, {64})}};
  const auto refused = engine.prepare(request);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().message.find("S: ") == 0);
  CHECK(refused.error().message.find("CUDA knows no memory there") != std::string::npos);
}

TEST_CASE("A bounded wait for a lost arrival ends in an error with the barrier's state") {
  Engine engine = emulated_engine("sm_90a");
  LostArrival record;
  auto device = DeviceBuffer::allocate(engine, sizeof record);
  REQUIRE(device);
  Request request{.kernel = "mbarrier_lost", .params = {{"LOST", 1}, {"PHASES", 1}}};
  request.tensors = {{"D", Tensor::row_major(device->address(), DType::s32, {8})}};
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch, launch.error().text());
  REQUIRE(launch->launch());
  REQUIRE(device->download(&record, sizeof record));
  const auto lost = check(record);
  REQUIRE(!lost);
  CHECK(lost.error().message.find("block 0, thread 40 waited in vain for parity 1") == 0);
  CHECK(lost.error().message.find("2 arrivals never came") != std::string::npos);
}

TEST_SUITE_END();
