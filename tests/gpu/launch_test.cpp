#include "gpu_fixture.h"

namespace tma_jit {

using namespace testing;

TEST_CASE("views, a scalar, a cleared workspace, dims and a hook reach the kernel") {
  Gpu gpu;
  constexpr std::int64_t kCount = 1000;
  const DeviceBuffer x = gpu.buffer_of(ramp(kCount)), y = gpu.buffer(kCount * 4), counter = gpu.buffer(64);
  Request request = scale_of(x, y, kCount);
  request.hooks["apply"] = "a + 0.5f";
  for (const bool fixed : {false, true}) {
    if (fixed) request.fixed = {"N"};
    Launch launch = gpu.prepared(request);
    TMA_JIT_REQUIRE_OK(launch.launch());
    const auto values = gpu.values_of<float>(y, kCount);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == 2 * static_cast<float>(i + 1) + 0.5F);
  }
  DeviceBuffer cleared = gpu.buffer(64);
  TMA_JIT_REQUIRE_OK(cleared.fill(0));
  request.workspaces["counter"] = cleared.address();
  Launch launch = gpu.prepared(request);
  for (int i = 0; i < 3; ++i) TMA_JIT_REQUIRE_OK(launch.launch());
  CHECK(gpu.values_of<unsigned>(cleared, 1)[0] == 3 * launch.plan().geometry.grid[0]);
}

TEST_CASE("tensor maps copy every element of a matrix, ragged edges included, and nothing beside it") {
  Gpu gpu;
  for (const auto [rows, columns] : {std::pair{64, 64}, {100, 36}, {1, 4}, {257, 1024}}) {
    const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    const DeviceBuffer x = gpu.buffer_of(ramp(count));
    DeviceBuffer y = gpu.buffer((count + 64) * 4);
    TMA_JIT_REQUIRE_OK(y.fill(0));
    Launch launch = gpu.prepared({.kernel = "tile",
                                  .tensors = {{"X", Tensor::row_major(x.address(), DType::f32, {rows, columns})},
                                              {"Y", Tensor::row_major(y.address(), DType::f32, {rows, columns})}}});
    TMA_JIT_REQUIRE_OK(launch.launch());
    auto expected = ramp(count);
    expected.resize(count + 64);
    CHECK(gpu.values_of<float>(y, count + 64) == expected);
  }
}

TEST_CASE("an empty matrix launches nothing") {
  Gpu gpu;
  Launch launch = gpu.prepared({.kernel = "tile",
                                .tensors = {{"X", Tensor::row_major(std::uint64_t{0}, DType::f32, {0, 64})},
                                            {"Y", Tensor::row_major(std::uint64_t{0}, DType::f32, {0, 64})}}});
  TMA_JIT_REQUIRE_OK(launch.launch());
  TMA_JIT_REQUIRE_OK(synchronize(gpu.engine));
}

TEST_CASE("blocks know their rank in clusters of 1 to 16; programmatic launches queue up") {
  Gpu gpu;
  constexpr std::int64_t kBlocks = 64;
  for (const std::int64_t cluster : {1, 2, 4, 8, 16}) {
    const DeviceBuffer y = gpu.buffer(kBlocks * 4);
    auto launch = gpu.engine.prepare(
        {.kernel = "rank", .tensors = {{"Y", vector_of(y, kBlocks, DType::s32)}}, .params = {{"CLUSTER", cluster}}});
    if (!launch && cluster > 8) {
      MESSAGE("clusters of 16: " << launch.error().text());
      continue;
    }
    TMA_JIT_REQUIRE_OK(launch);
    for (int i = 0; i < 4; ++i) TMA_JIT_REQUIRE_OK(launch->launch());
    const auto ranks = gpu.values_of<int>(y, kBlocks);
    for (std::size_t i = 0; i < ranks.size(); ++i) CHECK(ranks[i] == static_cast<int>(i) % cluster);
  }
}

TEST_CASE("rebind moves the output, and refuses an address the map cannot have") {
  Gpu gpu;
  const auto values = ramp(64 * 64);
  const DeviceBuffer x = gpu.buffer_of(values), first = gpu.buffer(values.size() * 4);
  DeviceBuffer second = gpu.buffer(values.size() * 4 + 8);
  Launch launch = gpu.prepared({.kernel = "tile",
                                .tensors = {{"X", Tensor::row_major(x.address(), DType::f32, {64, 64})},
                                            {"Y", Tensor::row_major(first.address(), DType::f32, {64, 64})}}});
  TMA_JIT_REQUIRE_OK(launch.rebind("Y", second.address()));
  TMA_JIT_REQUIRE_OK(launch.launch());
  CHECK(gpu.values_of<float>(second, values.size()) == values);
  CHECK(!launch.rebind("Y", second.address() + 8));
  TMA_JIT_REQUIRE_OK(second.fill(0));
  TMA_JIT_REQUIRE_OK(launch.launch());
  CHECK(gpu.values_of<float>(second, values.size()) == values);
}

TEST_CASE(
    "host memory and freed memory are refused unless the device reaches them; pinned and managed memory never is") {
  Gpu gpu;
  const DeviceBuffer x = gpu.buffer_of(ramp(64)), y = gpu.buffer(256);
  Launch launch = gpu.prepared(scale_of(x, y, 64));
  const std::vector<float> host(64);
  const std::uint64_t freed = gpu.buffer(64 << 20).address();
  int reaches = 0;
  REQUIRE(raw<CUresult(int*, CUdevice_attribute, CUdevice)>("cuDeviceGetAttribute")(
              &reaches, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0) == CUDA_SUCCESS);
  for (const std::uint64_t address : {reinterpret_cast<std::uint64_t>(host.data()), freed}) {
    const auto bound = launch.rebind("Y", address);
    CHECK(bound.has_value() == (reaches != 0));
    if (!bound) CHECK(bound.error().message.find("CUDA knows no memory there") != std::string::npos);
  }
  CUdeviceptr managed = 0;
  void* pinned = nullptr;
  const auto current = driver::Current::enter(*EngineInternals::state_of(gpu.engine).device.context().value());
  REQUIRE(current);
  REQUIRE(raw<CUresult(CUdeviceptr*, std::size_t, unsigned)>("cuMemAllocManaged")(&managed, 256, 1) == CUDA_SUCCESS);
  REQUIRE(raw<CUresult(void**, std::size_t, unsigned)>("cuMemHostAlloc")(&pinned, 256, 0) == CUDA_SUCCESS);
  for (const std::uint64_t address : {std::uint64_t{managed}, reinterpret_cast<std::uint64_t>(pinned)}) {
    TMA_JIT_REQUIRE_OK(launch.rebind("Y", address));
    TMA_JIT_REQUIRE_OK(launch.launch());
    TMA_JIT_REQUIRE_OK(synchronize(gpu.engine));
    CHECK(reinterpret_cast<const float*>(address)[63] == 128.0F);
  }
  raw<CUresult(CUdeviceptr)>("cuMemFree_v2")(managed);
  raw<CUresult(void*)>("cuMemFreeHost")(pinned);
}

TEST_CASE("a plan whose arguments the compiled kernel does not take is refused, and the first is named") {
  Gpu gpu;
  const DeviceBuffer x = gpu.buffer(4000), y = gpu.buffer(4000);
  Plan plan = gpu.engine.plan(scale_of(x, y, 1000)).value();
  plan.arguments[1].image.resize(24);
  const auto launch = gpu.engine.prepare(plan);
  REQUIRE(!launch);
  CHECK(launch.error().message.starts_with("scale: argument 1 (Y) is 24 bytes in the plan and 16 bytes"));
}

TEST_CASE("the caller's context stays current: none, the primary one, and one of its own") {
  Gpu gpu;
  const DeviceBuffer x = gpu.buffer_of(ramp(64)), y = gpu.buffer(256);
  const auto run = [&] {
    Launch launch = gpu.prepared(scale_of(x, y, 64));
    TMA_JIT_REQUIRE_OK(launch.launch());
    CHECK(gpu.values_of<float>(y, 64)[63] == 128.0F);
  };
  CHECK(current_context() == nullptr);
  run();
  CHECK(current_context() == nullptr);

  CUcontext own = nullptr;
  REQUIRE(raw<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2")(&own, 0, 0) == CUDA_SUCCESS);
  run();
  CHECK(current_context() == own);
  REQUIRE(raw<CUresult(CUcontext)>("cuCtxDestroy_v2")(own) == CUDA_SUCCESS);
}

}  // namespace tma_jit
