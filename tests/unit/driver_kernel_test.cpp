#include "driver/kernel.h"

#include <doctest/doctest.h>

#include "support/fake_driver.h"
#include "support/plans.h"

namespace tma_jit {

using namespace testing;

namespace {

Artifact cubin_for(std::string arch) {
  Artifact cubin;
  cubin.bytes.resize(100);
  cubin.entry = "gemm";
  cubin.arch = std::move(arch);
  return cubin;
}

struct Loaded {
  FakeDriver fake;
  driver::SharedContext context = driver::Context::open(driver::borrowed(fake.api()), 0).value();
  Result<driver::SharedKernel> load(std::string arch = "sm_90a") {
    return driver::Kernel::load(context, cubin_for(std::move(arch)), "NVRTC 13.0");
  }
};

}  // namespace

TEST_CASE("a kernel is loaded with the context current for as long as that takes, and unloaded") {
  Loaded loaded;
  {
    const auto kernel = loaded.load();
    REQUIRE(kernel);
    CHECK(FakeDriver::contexts().empty());
    CHECK(loaded.fake.count("cuLibraryLoadData") == 1);
  }
  CHECK(loaded.fake.count("cuLibraryUnload") == 1);
}

TEST_CASE("every failing call of loading is reported and leaves nothing loaded") {
  for (const char* call : {"cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction", "cuKernelGetParamInfo"}) {
    Loaded loaded;
    loaded.fake.fail(call, CUDA_ERROR_OUT_OF_MEMORY);
    const auto kernel = loaded.load();
    REQUIRE(!kernel);
    CHECK(kernel.error().message.starts_with(std::string(call) + "(gemm"));
    CHECK(loaded.fake.count("cuLibraryLoadData") == 1);
    CHECK(loaded.fake.count("cuLibraryUnload") == (std::string_view(call) == "cuLibraryLoadData" ? 0 : 1));
    CHECK(FakeDriver::contexts().empty());
  }
}

TEST_CASE("a driver older than the cubin is told apart from a cubin for another target") {
  Loaded loaded;
  loaded.fake.api().version = 12040;
  loaded.fake.fail("cuLibraryLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU);
  const auto old = loaded.load();
  REQUIRE(!old);
  CHECK(old.error().message ==
        "cuLibraryLoadData(gemm, 100 bytes): CUDA_ERROR_NO_BINARY_FOR_GPU (209): in the driver's words");
  CHECK(
      old.error().detail.starts_with("the cubin is for sm_90a, built by NVRTC 13.0; the device is NVIDIA H100 80GB "
                                     "HBM3 (sm_90a), its driver CUDA 12.4\na driver runs the cubins of its own"));
  const auto foreign = loaded.load("sm_100a");
  REQUIRE(!foreign);
  CHECK(foreign.error().detail.ends_with("\na cubin for another target does not run here: build for sm_90a"));
}

TEST_CASE("the first argument that differs from the compiled kernel's parameters is named") {
  Loaded loaded;
  loaded.fake.parameters = {{0, 128}, {128, 16}, {144, 8}};
  const auto kernel = loaded.load();
  REQUIRE(kernel);
  const auto a = boxed("A", 0x1000, 64, 64);
  const auto x = viewed("x", 0x2000, 4);
  const auto dims = valued(Argument::Kind::dims, "dims", std::array<int, 2>{1, 2});

  CHECK((*kernel)->check_arguments(std::vector{a, x, dims}));
  const auto swapped = (*kernel)->check_arguments(std::vector{x, a, dims});
  REQUIRE(!swapped);
  CHECK(swapped.error().text() ==
        "driver: gemm: argument 0 (x) is 16 bytes in the plan and 128 bytes in the compiled "
        "kernel: its signature does not follow the manifest");
  CHECK((*kernel)->check_arguments(std::vector{a, x}).error().message ==
        "gemm: the plan gives 2 parameters and the compiled kernel takes 3 parameters");
  CHECK((*kernel)->check_arguments(std::vector{a, x, dims, dims}).error().message ==
        "gemm: the plan gives 4 parameters and the compiled kernel takes 3 parameters; the first too many is dims");
}

TEST_CASE("the entries of a list are one parameter") {
  Loaded loaded;
  loaded.fake.parameters = {{0, 128}, {128, 48}, {176, 8}};
  const auto kernel = loaded.load();
  REQUIRE(kernel);
  const auto a = boxed("A", 0x1000, 64, 64);
  auto s0 = viewed("S0", 0x2000, 4);
  s0.list = "S";
  auto s1 = s0, s2 = s0;
  const auto dims = valued(Argument::Kind::dims, "dims", std::array<int, 2>{1, 2});
  CHECK((*kernel)->check_arguments(std::vector{a, s0, s1, s2, dims}));
  CHECK(
      (*kernel)->check_arguments(std::vector{a, s0, s1, dims}).error().message ==
      "gemm: argument 1 (S) is 32 bytes in the plan and 48 bytes in the compiled kernel: its signature does not follow "
      "the manifest");
}

TEST_CASE("a driver before 12.4 cannot tell parameters, and nothing is checked") {
  Loaded loaded;
  loaded.fake.api().kernel_get_param_info = nullptr;
  const auto kernel = loaded.load();
  REQUIRE(kernel);
  CHECK((*kernel)->check_arguments(std::vector{viewed("x", 0x2000, 4)}));
}

TEST_CASE("shared memory is allowed where it is needed, and refused with the numbers") {
  Loaded loaded;
  const auto kernel = loaded.load();
  REQUIRE(kernel);
  Geometry geometry{.smem_bytes = 48128};
  REQUIRE((*kernel)->admit(geometry));
  CHECK(loaded.fake.count("cuFuncSetAttribute") == 0);

  geometry.smem_bytes = 200000;
  REQUIRE((*kernel)->admit(geometry));
  CHECK(loaded.fake.function_attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] == 200000);
  geometry.smem_bytes = 100000;
  REQUIRE((*kernel)->admit(geometry));
  CHECK(loaded.fake.function_attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] == 200000);

  geometry.smem_bytes = 232448;
  CHECK(
      (*kernel)->admit(geometry).error().text() ==
      "invalid_argument: gemm: 232448 bytes of dynamic and 1024 of static shared memory a block, and NVIDIA H100 80GB "
      "HBM3 allows 232448");
}

TEST_CASE("a block larger than the registers allow is refused with the numbers") {
  Loaded loaded;
  loaded.fake.function_attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 384;
  loaded.fake.function_attributes[CU_FUNC_ATTRIBUTE_NUM_REGS] = 168;
  const auto kernel = loaded.load();
  REQUIRE(kernel);
  CHECK((*kernel)->admit(Geometry{.block = {384, 1, 1}}));
  CHECK((*kernel)->admit(Geometry{.block = {128, 4, 1}}).error().message ==
        "gemm: a block of 512 threads; as compiled (168 registers a thread) it takes 1 to 384");
}

TEST_CASE("clusters: non-portable ones only where needed, and only those that fit") {
  Loaded loaded;
  const auto kernel = loaded.load();
  REQUIRE(kernel);
  const auto admit = [&](std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> cluster) {
    return (*kernel)->admit(Geometry{.grid = grid, .cluster = cluster, .smem_bytes = 1000});
  };
  CHECK(admit({132, 1, 1}, {2, 1, 1}));
  CHECK(loaded.fake.count("cuFuncSetAttribute") == 0);
  CHECK(admit({16, 4, 1}, {8, 2, 1}));
  CHECK(loaded.fake.function_attributes[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] == 1);
  CHECK(admit({33, 1, 1}, {2, 1, 1}).error().message ==
        "gemm: a grid of 33 blocks in x is not a multiple of the cluster's 2");
  CHECK(admit({32, 1, 1}, {32, 1, 1}).error().message == "gemm: a cluster of 32 blocks; devices take 1 to 16");
  CHECK(admit({0, 1, 1}, {2, 1, 1}));
  loaded.fake.active_clusters = 0;
  CHECK(admit({16, 1, 1}, {16, 1, 1}).error().message ==
        "gemm: NVIDIA H100 80GB HBM3 has no room for one cluster of 16 blocks with 1000 bytes each");
}

}  // namespace tma_jit
