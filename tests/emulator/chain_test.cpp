// Chains: which stages are launched programmatically, what is refused, and the results of three dependent products.
// Needs NVRTC.
#include <tma_jit/device.h>

#include "emulator/devices.h"
#include "support/engines.h"
#include "support/mlp.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

std::vector<bool> programmatic(const Chain& chain) {
  std::vector<bool> of_stages;
  for (std::size_t i = 0; i < chain.size(); ++i) of_stages.push_back(chain[i].plan().geometry.programmatic);
  return of_stages;
}

Error failure_of(Engine& engine, const std::vector<Request>& stages) {
  const auto chain = engine.chain(stages);
  REQUIRE_FALSE(chain);
  CHECK(chain.error().code == ErrorCode::invalid_argument);
  return chain.error();
}

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("Three products of an MLP give what the float64 reference gives, and all but the first start early") {
  for (const char* arch : {"sm_90a", "sm_100a", "sm_121a"}) {
    for (const std::int64_t rows : {1, 8, 33, 130}) {
      CAPTURE(arch);
      CAPTURE(rows);
      Engine engine = emulated_engine(arch);
      Mlp mlp(engine, rows, 72, 200);
      auto chain = engine.chain(mlp.stages());
      REQUIRE_MESSAGE(chain, chain.error().text());
      CHECK(programmatic(*chain) == std::vector<bool>{false, true, true});
      CHECK(engine.stats().plans == 3);  // what decides a stage's configuration is planned once
      for (int round = 0; round < 2; ++round) {
        mlp.poison();
        const auto launched = chain->launch();
        REQUIRE_MESSAGE(launched, launched.error().text());
        CHECK(mlp.error() < 0.01);
      }
    }
  }
}

TEST_CASE("A stage that follows another has the configuration that its kernel's manifest names for that") {
  constexpr const char* kFollower = R"cu(//! kernel  follower
//! arch    sm_90a
//! dim     N
//! param   AFTER = 0 in {0, 1} asked chain 1
//! param   BLOCK = 32 in {32, 64}
//! tensor  X : f32[N]
//! tensor  Y : f32[N] out
//! launch  grid ceil_div(N, BLOCK)  block BLOCK  waits
//! preset  BLOCK = 64 when AFTER == 1
//! preset  BLOCK = 32
#include "device/ptx/griddepcontrol.cuh"
#include "device/types.cuh"

extern "C" __global__ void follower(View<const f32, 1> X, View<f32, 1> Y, const Dims dims) {
  grid::wait();
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < dims.N) Y.data[i] = X.data[i] + BLOCK;
}
)cu";
  Engine engine = emulated_engine("sm_90a");
  REQUIRE(engine.add_template("follower.cu", kFollower));
  constexpr std::int64_t kCount = 100;
  std::vector<DeviceBuffer> buffers;
  for (int i = 0; i < 4; ++i) buffers.push_back(*DeviceBuffer::allocate(engine, kCount * sizeof(float)));
  REQUIRE(buffers[0].fill(0));
  const auto vector = [&](std::size_t index) {
    return Tensor::row_major(buffers[index].address(), DType::f32, {kCount});
  };
  std::vector<Request> stages;
  for (std::size_t i = 0; i < 3; ++i)
    stages.push_back({.kernel = "follower", .tensors = {{"X", vector(i)}, {"Y", vector(i + 1)}}});
  stages[2].params["AFTER"] = 0;
  auto chain = engine.chain(stages);
  REQUIRE_MESSAGE(chain, chain.error().text());
  REQUIRE(chain->launch());
  REQUIRE(synchronize(engine));
  std::vector<float> values(kCount);
  REQUIRE(buffers[3].download(values.data(), kCount * sizeof(float)));
  CHECK(values == std::vector<float>(kCount, 32 + 64 + 32));
}

TEST_CASE("A stage whose kernel says that it waits, and does not, is reported") {
  constexpr const char* kHasty = R"cu(//! kernel  hasty
//! arch    sm_90a
//! dim     N
//! tensor  X : f32[N]
//! tensor  Y : f32[N] out
//! launch  grid ceil_div(N, 32)  block 32  waits
#include "device/types.cuh"

extern "C" __global__ void hasty(View<const f32, 1> X, View<f32, 1> Y, const Dims dims) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < dims.N) Y.data[i] = X.data[i] + 1;
}
)cu";
  Engine engine = emulated_engine("sm_90a");
  REQUIRE(engine.add_template("hasty.cu", kHasty));
  constexpr std::int64_t kCount = 100;
  auto memory = DeviceBuffer::allocate(engine, 3 * kCount * sizeof(float));
  REQUIRE(memory);
  REQUIRE(memory->fill(0));
  const auto vector = [&](std::uint64_t index) {
    return Tensor::row_major(memory->address() + index * kCount * sizeof(float), DType::f32, {kCount});
  };
  auto chain = engine.chain({{.kernel = "hasty", .tensors = {{"X", vector(0)}, {"Y", vector(1)}}},
                             {.kernel = "hasty", .tensors = {{"X", vector(1)}, {"Y", vector(2)}}}});
  REQUIRE_MESSAGE(chain, chain.error().text());
  const auto launched = chain->launch();
  REQUIRE_FALSE(launched);
  CAPTURE(launched.error().text());
  CHECK(launched.error().text().find("is read by a launch that has not waited for one before it, which wrote it") !=
        std::string::npos);
  CHECK(launched.error().text().find("hasty.cu:11") != std::string::npos);
}

TEST_CASE("A stage that reads early what lies backwards around an earlier stage's result is launched plainly") {
  constexpr const char* kEarly = R"cu(//! kernel  early
//! arch    sm_90a
//! dim     N, W
//! tensor  X : f32[W] early
//! tensor  Y : f32[N] out
//! launch  grid 1  block 32  waits
#include "device/ptx/griddepcontrol.cuh"
#include "device/types.cuh"

extern "C" __global__ void early(View<const f32, 1> X, View<f32, 1> Y, const Dims dims) {
  grid::wait();
  for (int i = threadIdx.x; i < dims.N; i += 32) Y.data[i * Y.stride[0]] = X.data[i * X.stride[0]];
}
)cu";
  Engine engine = emulated_engine("sm_90a");
  REQUIRE(engine.add_template("early.cu", kEarly));
  const auto memory = DeviceBuffer::allocate(engine, 4096);
  REQUIRE(memory);
  const auto vector = [&](std::int64_t first, std::int64_t count, std::int64_t stride) {
    return Tensor::strided(memory->address() + static_cast<std::uint64_t>(4 * first), DType::f32, {count}, {stride});
  };
  // The first stage writes elements 100 to 109; the second reads 300 to 1 backwards, or 300 to 201.
  const auto starts_early = [&](std::int64_t count, const Tensor& written) -> bool {
    const auto chain =
        engine.chain({{.kernel = "early", .tensors = {{"X", vector(500, 10, 1)}, {"Y", written}}},
                      {.kernel = "early", .tensors = {{"X", vector(300, count, -1)}, {"Y", vector(700, 10, 1)}}}});
    REQUIRE_MESSAGE(chain, chain.error().text());
    return programmatic(*chain)[1];
  };
  CHECK_FALSE(starts_early(300, vector(100, 10, 1)));
  CHECK_FALSE(starts_early(300, vector(109, 10, -1)));
  CHECK(starts_early(100, vector(100, 10, 1)));
  CHECK(starts_early(100, vector(109, 10, -1)));
}

TEST_CASE("A stage whose weights an earlier stage writes, or that no launch precedes, is launched plainly") {
  Engine engine = emulated_engine("sm_90a");
  Mlp mlp(engine, 8, 64, 64);
  std::vector<Request> stages = mlp.stages();
  std::swap(stages[2].tensors[0].tensor, stages[2].tensors[1].tensor);  // B is what the second stage writes
  stages[2].tensors[0].tensor = Tensor::row_major(stages[2].tensors[0].tensor.address, DType::bf16, {8, 64});
  stages[2].tensors[2].tensor = Tensor::row_major(stages[2].tensors[2].tensor.address, DType::bf16, {8, 8});
  auto chain = engine.chain(stages);
  REQUIRE_MESSAGE(chain, chain.error().text());
  CHECK(programmatic(*chain) == std::vector<bool>{false, true, false});

  std::vector<Request> after_none = mlp.stages();
  for (NamedTensor& tensor : after_none[0].tensors) {
    if (tensor.name != "B") tensor.tensor.shape[0] = 0;
  }
  chain = engine.chain(after_none);
  REQUIRE_MESSAGE(chain, chain.error().text());
  CHECK(programmatic(*chain) == std::vector<bool>{false, false, true});
}

TEST_CASE("A chain names the stage that does not fit the ones before it") {
  Engine engine = emulated_engine("sm_90a");
  const Mlp mlp(engine, 8, 64, 128);
  CHECK(failure_of(engine, {}).message == "a chain of no stages");

  std::vector<Request> taller = mlp.stages();
  const std::uint64_t hidden = taller[2].tensors[0].tensor.address;
  taller[2].tensors[0].tensor = Tensor::row_major(hidden, DType::bf16, {9, 128});
  taller[2].tensors[2].tensor = Tensor::row_major(taller[2].tensors[2].tensor.address, DType::bf16, {9, 64});
  CHECK(failure_of(engine, taller).message ==
        "stage 3 of 3 (gemm): it reads A bf16[9, 128] where stage 2 (gemm) writes D bf16[8, 128]");

  std::vector<Request> other = mlp.stages();
  for (const std::size_t i : {0, 1}) other[2].tensors[i].tensor.dtype = DType::f16;
  CHECK(failure_of(engine, other).message ==
        "stage 3 of 3 (gemm): it reads A f16[8, 128] where stage 2 (gemm) writes D bf16[8, 128]");

  std::vector<Request> unbound = mlp.stages();
  unbound[1].tensors[1].tensor.address = 0;
  CHECK(failure_of(engine, unbound).message ==
        "stage 2 of 3 (gemm): B has no address; a chain's tensors have theirs from the start");

  std::vector<Request> unknown = mlp.stages();
  unknown[1].kernel = "gemn";
  const auto chain = engine.chain(unknown);
  REQUIRE_FALSE(chain);
  CHECK(chain.error().code == ErrorCode::not_found);
  CHECK(chain.error().message.starts_with("stage 2 of 3 (gemn): "));
}

TEST_SUITE_END();
