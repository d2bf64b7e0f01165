// What the host computes of swizzles and matrix descriptors against what the device does: a tile whose elements are
// their own numbers is fetched by TMA and dumped as it lies in shared memory, and device code dumps the descriptors it
// builds.
#include "plan/swizzle.h"
#include "gpu/gpu_fixture.h"
#include "support/matrix_descriptor.h"

namespace tma_jit::testing {
namespace {

constexpr const char* kDump = R"(//! kernel  dump
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! param   SWIZZLE = 128 in {0, 32, 64, 128}
//! let     COLUMNS = SWIZZLE == 0 ? 64 : SWIZZLE / 2
//! tensor  S : u16[64, COLUMNS]  box [64, COLUMNS]  swizzle SWIZZLE
//! tensor  D : u16[64 * COLUMNS]  out
//! launch  grid 1  block 32
#include "device/ptx/tma.cuh"
extern "C" __global__ void dump(const __grid_constant__ CUtensorMap S, View<u16, 1> D) {
  __shared__ alignas(1024) u16 tile[64 * COLUMNS];
  __shared__ Barrier full;
  if (threadIdx.x == 0) {
    full.init(1);
    fence_barrier_init();
    full.expect(sizeof(tile));
    tma::load(tile, S, full, 0, 0);
  }
  __syncwarp();
  full.wait(0);
  for (int i = threadIdx.x; i < 64 * COLUMNS; i += 32) D.data[i] = tile[i];
}
)";

// One descriptor for each step of 32 bytes of K, and behind them the tile's address; built as kernels build them.
constexpr const char* kDescriptors = R"(//! kernel  descriptors
//! arch    sm_90a, sm_100a, sm_103a
//! param   SWIZZLE = 128 in {0, 32, 64, 128}
//! param   MN      = 0   in {0, 1}
//! tensor  D : u64[5]  out
//! launch  grid 1  block 1
#include "device/ptx/matrix_descriptor.cuh"
extern "C" __global__ void descriptors(View<u64, 1> D) {
  __shared__ alignas(1024) u16 tile[64 * 64];
  const u32 base = smem_address(tile);
  for (u32 step = 0; step < 4; ++step)
    if constexpr (MN == 1)
      D.data[step] = SWIZZLE == 0 ? matrix::descriptor<0>(base + step * 256, 128, 1024)
                                  : matrix::descriptor<SWIZZLE>(base + step * 16 * SWIZZLE, 64 * SWIZZLE, 8 * SWIZZLE);
    else if constexpr (SWIZZLE == 0)
      D.data[step] = matrix::descriptor<0>(base + step * 2048, 1024, 128);
    else
      D.data[step] = matrix::descriptor<SWIZZLE>(base + step * 32 / SWIZZLE * 64 * SWIZZLE + step * 32 % SWIZZLE, 16,
                                                 8 * SWIZZLE);
  D.data[4] = base;
}
)";

Swizzle swizzle_of(std::int64_t bytes) {
  return bytes == 0 ? Swizzle::none : bytes == 32 ? Swizzle::b32 : bytes == 64 ? Swizzle::b64 : Swizzle::b128;
}

}  // namespace

TEST_CASE("TMA puts every element where the host's swizzle says") {
  Gpu gpu;
  TMA_JIT_REQUIRE_OK(gpu.engine.add_template("dump.cu", kDump));
  for (const std::int64_t bytes : {0, 32, 64, 128}) {
    const std::int64_t columns = bytes == 0 ? 64 : bytes / 2, count = 64 * columns;
    std::vector<std::uint16_t> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), std::uint16_t{0});
    const DeviceBuffer from = gpu.buffer_of(numbers);
    const DeviceBuffer to = gpu.buffer_of(std::vector<std::uint16_t>(numbers.size(), 0xFFFF));
    Launch launch = gpu.prepared({.kernel = "dump",
                                  .tensors = {{"S", Tensor::row_major(from.address(), DType::u16, {64, columns})},
                                              {"D", vector_of(to, count, DType::u16)}},
                                  .params = {{"SWIZZLE", bytes}}});
    TMA_JIT_REQUIRE_OK(launch.launch());
    const auto dumped = gpu.values_of<std::uint16_t>(to, numbers.size());
    int wrong = 0;
    for (std::uint32_t i = 0; i < dumped.size(); ++i) {
      if (dumped[plan::swizzled(swizzle_of(bytes), 2 * i) / 2] != i) ++wrong;
    }
    CHECK_MESSAGE(wrong == 0, wrong << " of " << count << " elements are elsewhere with a swizzle of " << bytes);
  }
}

TEST_CASE("device code builds the descriptors that the host builds") {
  Gpu gpu;
  TMA_JIT_REQUIRE_OK(gpu.engine.add_template("descriptors.cu", kDescriptors));
  for (const std::int64_t mn : {0, 1}) {
    for (const std::int64_t bytes : {0, 32, 64, 128}) {
      const DeviceBuffer to = gpu.buffer_of(std::vector<std::uint64_t>(5, 0));
      Launch launch = gpu.prepared({.kernel = "descriptors",
                                    .tensors = {{"D", vector_of(to, 5, DType::u64)}},
                                    .params = {{"SWIZZLE", bytes}, {"MN", mn}}});
      TMA_JIT_REQUIRE_OK(launch.launch());
      const auto dumped = gpu.values_of<std::uint64_t>(to, 5);
      const plan::OperandTile tile{.major = mn == 1 ? plan::Major::mn : plan::Major::k, .swizzle = swizzle_of(bytes)};
      for (std::uint32_t step = 0; step < 4; ++step) {
        const auto matrix = plan::operand_of(tile, static_cast<std::uint32_t>(dumped[4]), step * 16);
        CHECK(dumped[step] == plan::wgmma_descriptor(matrix).value());
      }
    }
  }
}

}  // namespace tma_jit::testing
