#include <doctest/doctest.h>

#include "driver/launch_state.h"
#include "support/fake_driver.h"
#include "support/plans.h"

namespace tma_jit {

using namespace testing;

namespace {

// A kernel loaded into the fake, and launches of plans on it.
struct Machine {
  FakeDriver fake;
  driver::SharedContext context = driver::Context::open(driver::borrowed(fake.api()), 0).value();

  Result<Launch> prepare(const Plan& plan) {
    fake.parameters.clear();
    fake.argument_sizes.clear();
    for (const Argument& argument : plan.arguments) {
      fake.parameters.emplace_back(0, argument.image.size());
      fake.argument_sizes.push_back(argument.image.size());
    }
    auto cubin = std::make_shared<Artifact>();
    cubin->bytes.resize(16);
    cubin->entry = plan.entry;
    TMA_JIT_ASSIGN(auto kernel, driver::Kernel::load(context, *cubin, "NVRTC"));
    TMA_JIT_ASSIGN(auto prepared, driver::prepare(plan, cubin, kernel));
    TMA_JIT_ASSIGN(auto state, Launch::State::make(prepared));
    return LaunchInternals::launch_of(std::move(state));
  }

  FakeDriver::Launch last() { return fake.launches().back(); }
  template <class Value> Value argument(std::size_t index) {
    Value value;
    std::memcpy(&value, last().arguments.at(index).data(), sizeof value);
    return value;
  }
};

struct View {
  std::uint64_t data;
  long long stride;
};

Plan everything() {
  return plan_of({boxed("A", 0x10000, 512, 256), viewed("bias", 0x20000, 256),
                  valued(Argument::Kind::scalar, "alpha", 2.5F),
                  valued(Argument::Kind::dims, "dims", std::array<int, 2>{512, 256})});
}

}  // namespace

TEST_CASE("a launch hands every argument's bytes, the geometry and the stream to the driver in one call") {
  Machine machine;
  auto launch = machine.prepare(everything());
  REQUIRE(launch);
  const auto stream = reinterpret_cast<CUstream>(std::uintptr_t{0x77});
  machine.fake.contexts().push_back(machine.fake.primary());
  const std::size_t before = machine.fake.calls().size();
  REQUIRE(launch->launch(stream));
  const auto calls = machine.fake.calls();
  CHECK(std::vector(calls.begin() + static_cast<std::ptrdiff_t>(before), calls.end()) ==
        std::vector<std::string>{"cuCtxGetCurrent", "cuLaunchKernelEx"});

  CHECK(machine.argument<FakeTensorMap>(0).address == 0x10000);
  CHECK(machine.argument<View>(1).data == 0x20000);
  CHECK(machine.argument<View>(1).stride == 1);
  CHECK(machine.argument<float>(2) == 2.5F);
  CHECK(machine.argument<std::array<int, 2>>(3) == std::array<int, 2>{512, 256});
  CHECK(machine.last().config.gridDimX == 132);
  CHECK(machine.last().config.blockDimX == 384);
  CHECK(machine.last().config.hStream == stream);
  CHECK(machine.last().attributes.empty());
}

TEST_CASE("cluster and programmatic launch become attributes") {
  Machine machine;
  Plan plan = everything();
  plan.geometry.cluster = {2, 1, 1};
  plan.geometry.programmatic = true;
  auto launch = machine.prepare(plan);
  REQUIRE(launch);
  REQUIRE(launch->launch());
  const auto attributes = machine.last().attributes;
  REQUIRE(attributes.size() == 2);
  CHECK(attributes[0].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  CHECK(attributes[0].value.clusterDim.x == 2);
  CHECK(attributes[1].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  CHECK(attributes[1].value.programmaticStreamSerializationAllowed == 1);
}

TEST_CASE("a caller's own context is current again after a launch") {
  Machine machine;
  auto launch = machine.prepare(everything());
  REQUIRE(launch);
  const auto other = reinterpret_cast<CUcontext>(std::uintptr_t{0x99});
  machine.fake.contexts().push_back(other);
  REQUIRE(launch->launch());
  CHECK(machine.last().context == machine.fake.primary());
  CHECK(machine.fake.contexts() == std::vector<CUcontext>{other});
}

TEST_CASE("a failed launch is reported with its geometry, and the caller's context restored") {
  Machine machine;
  auto launch = machine.prepare(everything());
  REQUIRE(launch);
  machine.fake.fail("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_FAILED);
  const auto result = launch->launch();
  REQUIRE(!result);
  CHECK(result.error().message ==
        "cuLaunchKernelEx(gemm, grid [132, 1, 1], block [384, 1, 1], cluster [1, 1, 1], 0 bytes of shared memory): "
        "CUDA_ERROR_LAUNCH_FAILED (719): in the driver's words");
  CHECK(machine.fake.contexts().empty());
  machine.fake.fail("cuCtxPushCurrent", CUDA_ERROR_INVALID_VALUE);
  CHECK(launch->launch().error().message.starts_with("cuCtxPushCurrent"));
}

TEST_CASE("an empty grid is a launch of nothing") {
  Machine machine;
  Plan plan = plan_of({boxed("A", 0, 0, 256)});
  plan.geometry.grid = {0, 1, 1};
  auto launch = machine.prepare(plan);
  REQUIRE(launch);
  CHECK(launch->launch());
  CHECK(machine.fake.count("cuLaunchKernelEx") == 0);
}

TEST_CASE("an empty or absent tensor needs no address and passes zeros") {
  Machine machine;
  Argument absent = boxed("C", 0, 64, 64);
  absent.present = false;
  absent.map.reset();
  auto launch = machine.prepare(plan_of({boxed("A", 0, 0, 256), viewed("v", 0, 0), absent}));
  REQUIRE(launch);
  REQUIRE(launch->launch());
  CHECK(machine.last().arguments[0] == std::vector<std::byte>(128));
  CHECK(machine.last().arguments[2] == std::vector<std::byte>(128));
  CHECK(machine.fake.count("cuTensorMapEncodeTiled") == 0);
  CHECK(launch->rebind("A", std::uint64_t{0x4000}));
  CHECK(launch->rebind("C", std::uint64_t{0x4000}).error().text() ==
        "invalid_argument: gemm: this launch was prepared without C");
}

TEST_CASE("rebind changes one address and nothing else") {
  Machine machine;
  auto launch = machine.prepare(everything());
  REQUIRE(launch);
  REQUIRE(launch->rebind("A", std::uint64_t{0x30000}));
  REQUIRE(launch->rebind("bias", reinterpret_cast<const void*>(std::uintptr_t{0x40004})));
  REQUIRE(launch->launch());
  CHECK(machine.argument<FakeTensorMap>(0).address == 0x30000);
  CHECK(machine.argument<FakeTensorMap>(0).dims[0] == 256);
  CHECK(machine.argument<View>(1).data == 0x40004);
  CHECK(machine.argument<View>(1).stride == 1);
  CHECK(machine.fake.count("cuTensorMapEncodeTiled") == 1);
}

TEST_CASE("a viewed tensor map has its address in both places") {
  Machine machine;
  Argument both = boxed("D", 0x10000, 512, 256);
  both.viewed = true;
  both.image.resize(192);
  auto launch = machine.prepare(plan_of({both}));
  REQUIRE(launch);
  const auto view_address = [&] {
    std::uint64_t address = 0;
    std::memcpy(&address, machine.last().arguments[0].data() + 128, sizeof address);
    return address;
  };
  REQUIRE(launch->launch());
  CHECK(view_address() == 0x10000);
  REQUIRE(launch->rebind("D", std::uint64_t{0x20000}));
  REQUIRE(launch->launch());
  CHECK(machine.argument<FakeTensorMap>(0).address == 0x20000);
  CHECK(view_address() == 0x20000);
}

TEST_CASE("rebind refuses a wrong name, a null and an address the plan was not made for") {
  Machine machine;
  auto launch = machine.prepare(everything());
  REQUIRE(launch);
  CHECK(launch->rebind("biass", std::uint64_t{16}).error().text() ==
        "not_found: gemm: no tensor or workspace is named biass; did you mean \"bias\"?");
  CHECK(launch->rebind("alpha", std::uint64_t{16}).error().code == ErrorCode::not_found);
  CHECK(launch->rebind("A", std::uint64_t{0}).error().message == "A: the address is null");
  CHECK(launch->rebind("A", std::uint64_t{0x30008}).error().message ==
        "A: the address 0x30008 is not a multiple of 16 bytes, which this plan was made for; prepare a launch for it");
  machine.fake.fail("cuTensorMapReplaceAddress", CUDA_ERROR_INVALID_VALUE);
  CHECK(launch->rebind("A", std::uint64_t{0x30000}).error().code == ErrorCode::driver);
  REQUIRE(launch->launch());
  CHECK(machine.argument<FakeTensorMap>(0).address == 0x10000);
}

TEST_CASE("a launch prepared from dims alone waits for its addresses") {
  Machine machine;
  auto launch = machine.prepare(plan_of({boxed("A", 0, 64, 64), viewed("bias", 0, 64)}));
  REQUIRE(launch);
  CHECK(launch->launch().error().text() == "invalid_argument: gemm: A has no address: rebind it before the launch");
  REQUIRE(launch->rebind("A", std::uint64_t{0x1000}));
  CHECK(launch->launch().error().message == "gemm: bias has no address: rebind it before the launch");
  REQUIRE(launch->rebind("bias", std::uint64_t{0x2000}));
  REQUIRE(launch->launch());
  CHECK(machine.argument<FakeTensorMap>(0).address == 0x1000);
}

TEST_CASE("workspaces the caller does not give are allocated, cleared where asked, and freed with the launch") {
  Machine machine;
  {
    Argument given = workspace("given", 64, true);
    given.address = 0x8000;
    auto launch = machine.prepare(plan_of(
        {workspace("partials", 4096, false), workspace("counters", 512, true), given, workspace("none", 0, true)}));
    REQUIRE(launch);
    CHECK(machine.fake.allocated() == 2);
    CHECK(machine.fake.count("cuMemsetD8Async") == 1);
    REQUIRE(launch->launch());
    const auto* counters = reinterpret_cast<const unsigned char*>(machine.argument<std::uint64_t>(1));
    CHECK(std::all_of(counters, counters + 512, [](unsigned char byte) { return byte == 0; }));
    CHECK(machine.argument<std::uint64_t>(2) == 0x8000);
    CHECK(machine.argument<std::uint64_t>(3) == 0);
    Launch moved = *std::move(launch);
    CHECK(moved.launch());
  }
  CHECK(machine.fake.allocated() == 0);
}

TEST_CASE("a workspace that does not fit is an error with its size, and frees what was made before it") {
  Machine machine;
  machine.fake.fail("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY);
  const auto launch = machine.prepare(plan_of({workspace("partials", 4096, false)}));
  REQUIRE(!launch);
  CHECK(launch.error().message == "cuMemAlloc(4096 bytes): CUDA_ERROR_OUT_OF_MEMORY (2): in the driver's words");
  machine.fake.succeed("cuMemAlloc");
  machine.fake.fail("cuMemsetD8Async", CUDA_ERROR_INVALID_VALUE);
  CHECK(!machine.prepare(plan_of({workspace("partials", 4096, true)})));
  CHECK(machine.fake.allocated() == 0);
}

TEST_CASE("preparing, launching and releasing break no capture") {
  Machine machine;
  machine.fake.capturing = true;
  {
    auto launch = machine.prepare(plan_of({boxed("A", 0x1000, 64, 64), workspace("counters", 512, true)}));
    REQUIRE(launch);
    CHECK(launch->launch());
  }
  CHECK(!machine.fake.capture_broken);
  CHECK(machine.fake.allocated() == 0);
}

TEST_CASE("launches outlive the context's other owners") {
  Machine machine;
  auto launch = machine.prepare(plan_of({}));
  REQUIRE(launch);
  machine.context.reset();
  CHECK(machine.fake.retained() == 1);
  { const Launch last = *std::move(launch); }
  CHECK(machine.fake.retained() == 0);
}

}  // namespace tma_jit
