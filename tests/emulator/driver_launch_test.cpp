// Invalid launches through the driver's table: the result that libcuda returns, and a text that describes the error.
#include <limits>

#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

// A kernel of two parameters that adds the second to the word that the first points to.
constexpr const char* kText =
    ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry add(.param .u64 p, .param .u32 v) {\n"
    ".reg .u64 %d<2>; .reg .u32 %r<2>;\nld.param.u64 %d1, [p]; ld.param.u32 %r1, [v];\n"
    "red.global.add.u32 [%d1], %r1;\nret;\n}\n"
    ".visible .entry few() .maxntid 64, 1, 1 { ret; }\n"
    ".visible .entry clustered() .explicitcluster { ret; }\n"
    ".visible .entry tell(.param .u64 p) {\n.reg .u64 %d; .reg .u32 %r; .reg .pred %p;\n"
    "mov.pred %p, %is_explicit_cluster; selp.u32 %r, 1, 2, %p; ld.param.u64 %d, [p]; st.global.u32 [%d], "
    "%r;\nret;\n}\n";

// Loads the kernels of kText on the device of sm_90a, whose context is current during the lifetime of this object.
class Loaded {
 public:
  Loaded() : api(table_of("sm_90a")) {
    CUcontext context = nullptr;
    REQUIRE(api.device_primary_ctx_retain(&context, device()) == CUDA_SUCCESS);
    REQUIRE(api.ctx_push_current(context) == CUDA_SUCCESS);
    REQUIRE(api.library_load_data(&library_, kText, nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_SUCCESS);
    REQUIRE(api.mem_alloc(&word, 256) == CUDA_SUCCESS);
  }
  ~Loaded() {
    CUcontext context = nullptr;
    api.mem_free(word);
    api.library_unload(library_);
    api.ctx_pop_current(&context);
    api.device_primary_ctx_release(device());
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  int device() const { return api.only_device; }
  CUfunction function(const char* name) const {
    CUkernel kernel = nullptr;
    CUfunction made = nullptr;
    REQUIRE(api.library_get_kernel(&kernel, library_, name) == CUDA_SUCCESS);
    REQUIRE(api.kernel_get_function(&made, kernel) == CUDA_SUCCESS);
    return made;
  }
  bool says(CUresult result, const char* words) const {
    const char* text = nullptr;
    api.get_error_string(result, &text);
    CAPTURE(std::string(text));
    return std::string(text).find(words) != std::string::npos;
  }

  const driver::Api api;
  CUdeviceptr word = 0;

 private:
  CUlibrary library_ = nullptr;
};

CUlaunchConfig shape(unsigned grid, unsigned block, unsigned shared = 0) {
  CUlaunchConfig config{};
  config.gridDimX = grid;
  config.blockDimX = block;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared;
  return config;
}

}  // namespace

TEST_CASE("Too few arguments are refused, enough are taken") {
  const Loaded loaded;
  const CUfunction add = loaded.function("add");
  const CUlaunchConfig config = shape(2, 32);
  std::uint32_t five = 5, sum = 0;
  CUdeviceptr word = loaded.word;
  void* whole[] = {&word, &five};
  void* half[] = {&word, nullptr};
  REQUIRE(loaded.api.memcpy_host_to_device(word, &sum, sizeof sum) == CUDA_SUCCESS);
  CHECK(loaded.api.launch_kernel_ex(&config, add, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(loaded.says(CUDA_ERROR_INVALID_VALUE, "no arguments; the kernel takes 2"));
  CHECK(loaded.api.launch_kernel_ex(&config, add, half, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(loaded.says(CUDA_ERROR_INVALID_VALUE, "argument 1 of 2 is a null pointer"));
  CHECK(loaded.api.launch_kernel_ex(&config, add, nullptr, whole) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(loaded.api.launch_kernel_ex(&config, nullptr, whole, nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(loaded.api.launch_kernel_ex(nullptr, add, whole, nullptr) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(loaded.api.memcpy_device_to_host(&sum, word, sizeof sum) == CUDA_SUCCESS);
  CHECK(sum == 0);  // none of the launches executed
  CHECK(loaded.api.launch_kernel_ex(&config, add, whole, nullptr) == CUDA_SUCCESS);
  REQUIRE(loaded.api.memcpy_device_to_host(&sum, word, sizeof sum) == CUDA_SUCCESS);
  CHECK(sum == 2 * 32 * 5);
}

TEST_CASE("Copies from and to no memory of the host are refused") {
  const Loaded loaded;
  CHECK(loaded.api.memcpy_host_to_device(loaded.word, nullptr, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(loaded.api.memcpy_device_to_host(nullptr, loaded.word, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(loaded.api.memcpy_host_to_device(loaded.word, nullptr, 0) == CUDA_SUCCESS);
  CHECK(loaded.api.memcpy_device_to_host(nullptr, loaded.word, 0) == CUDA_SUCCESS);
}

TEST_CASE("A kernel tells how many parameters it has, of what size and where") {
  const Loaded loaded;
  const auto kernel = reinterpret_cast<CUkernel>(loaded.function("add"));
  std::size_t offset = 0, size = 0;
  REQUIRE(loaded.api.kernel_get_param_info(kernel, 1, &offset, &size) == CUDA_SUCCESS);
  CHECK(offset == 8);
  CHECK(size == 4);
  CHECK(loaded.api.kernel_get_param_info(kernel, 2, &offset, &size) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("Absurd geometry is an invalid value, with the values") {
  const Loaded loaded;
  const CUfunction few = loaded.function("few");
  constexpr unsigned kHuge = std::numeric_limits<unsigned>::max();
  const auto refused = [&](const CUlaunchConfig& config, const char* words) {
    return loaded.api.launch_kernel_ex(&config, few, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE &&
           loaded.says(CUDA_ERROR_INVALID_VALUE, words);
  };
  CHECK(refused(shape(0, 32), "a grid of [0, 1, 1]"));
  CHECK(refused(shape(kHuge, 32), "a grid of"));
  CHECK(refused(shape(1, 0), "a block of [0, 1, 1]"));
  CHECK(refused(shape(1, 1025), "a block of"));
  CHECK(refused(shape(1, kHuge), "a block of"));
  CHECK(refused(shape(1, 65), "the kernel takes at most 64"));
  CHECK(refused(shape(1, 32, 1U << 20), "dynamic shared memory"));
  CHECK(refused(shape(1, 32, kHuge), "dynamic shared memory"));
  CHECK(loaded.api.func_set_attribute(few, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(loaded.api.func_set_attribute(few, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1) ==
        CUDA_ERROR_INVALID_VALUE);
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim.x = 2;
  cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
  CUlaunchConfig config = shape(3, 32);
  config.attrs = &cluster;
  config.numAttrs = 1;
  CHECK(refused(config, "not a multiple of the cluster"));
  cluster.value.clusterDim.x = 3;
  CHECK_FALSE(refused(config, "cluster"));
  cluster.value.clusterDim.x = 0;
  CHECK(refused(config, "a cluster of [0, 1, 1]"));
  int clusters = -1;
  CHECK(loaded.api.occupancy_max_active_clusters(&clusters, few, &config) == CUDA_ERROR_INVALID_VALUE);
  CHECK(loaded.says(CUDA_ERROR_INVALID_VALUE, "a cluster of [0, 1, 1]"));
  config = shape(1, 0);
  CHECK(loaded.api.occupancy_max_active_clusters(&clusters, few, &config) == CUDA_ERROR_INVALID_VALUE);
  CHECK(loaded.says(CUDA_ERROR_INVALID_VALUE, "a block of [0, 1, 1]"));
}

TEST_CASE("A launch states its cluster, also one of a single block, or has none") {
  const Loaded loaded;
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim.x = cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
  CUlaunchConfig without = shape(1, 1), with = without;
  with.attrs = &cluster;
  with.numAttrs = 1;
  const CUfunction clustered = loaded.function("clustered"), tell = loaded.function("tell");
  CHECK(loaded.api.launch_kernel_ex(&without, clustered, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(loaded.says(CUDA_ERROR_INVALID_VALUE, "no cluster; the kernel was compiled with .explicitcluster"));
  CHECK(loaded.api.launch_kernel_ex(&with, clustered, nullptr, nullptr) == CUDA_SUCCESS);
  const auto told = [&](const CUlaunchConfig& config) {
    void* arguments[] = {const_cast<CUdeviceptr*>(&loaded.word)};
    std::uint32_t value = 0;
    CHECK(loaded.api.launch_kernel_ex(&config, tell, arguments, nullptr) == CUDA_SUCCESS);
    CHECK(loaded.api.memcpy_device_to_host(&value, loaded.word, sizeof(value)) == CUDA_SUCCESS);
    return value;
  };
  CHECK(told(without) == 2);
  CHECK(told(with) == 1);
}

TEST_CASE("What is no module, and a kernel that is not there, have results of their own") {
  const Loaded loaded;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  const auto load = [&](const char* text) {
    return loaded.api.library_load_data(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  CHECK(load(nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(load("") == CUDA_ERROR_INVALID_PTX);
  CHECK(load("\x7f"
             "ELF") == CUDA_ERROR_NOT_SUPPORTED);
  const auto allocated = [] { return device_of("sm_90a").memory.allocated(); };
  const auto before = allocated();
  CHECK(load(".version 9.0\n.target sm_90a\n.global .b8 room[4096];\n.global .u64 at[1] = {generic(nowhere)};\n") ==
        CUDA_ERROR_NOT_SUPPORTED);
  CHECK(allocated() == before);  // a module that fails to load keeps no memory
  REQUIRE(load(kText) == CUDA_SUCCESS);
  CHECK(loaded.api.library_get_kernel(&kernel, library, "nowhere") == CUDA_ERROR_NOT_FOUND);
  CHECK(loaded.api.library_unload(library) == CUDA_SUCCESS);
}
