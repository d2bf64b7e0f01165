//! kernel  tcgen05_mma "D = A * B^T by one tcgen05.mma a step, accumulators in tensor memory"
//! arch    sm_100a, sm_103a
//! param   FORM    = 0    in 0..15  "0 bf16, 1 f16, 2 f16 in f16, 3 tf32, 4-7 e4m3 and e5m2, 8-11 in f16, 12-15 s8 and u8"
//! param   ROWS    = 128  in {64, 128}             "M of the instruction"
//! param   COLUMNS = 64   in {8, 16, 48, 64, 128, 256} "N of the instruction"
//! let     K       = FORM <= 2 ? 64 : FORM == 3 ? 32 : 128  "128 bytes"
//! let     LAYOUTS = FORM == 3 ? 4 : 16
//! require FORM < 12 || device.compute_capability == 100 "only sm_100a multiplies integers"
//! require ROWS == 64 || COLUMNS % 16 == 0         "128 rows take N in sixteens"
//! tensor  A : s8[ROWS, K]
//! tensor  B : s8[COLUMNS, K]
//! tensor  D : f32[LAYOUTS, ROWS, COLUMNS]  out
//! launch  grid 1  block 128  smem (ROWS + align_up(COLUMNS, 128)) * 128 + 1024
//! work    flops 2 * LAYOUTS * ROWS * COLUMNS * K  bytes 4 * LAYOUTS * ROWS * COLUMNS
//! preset  FORM = 0, COLUMNS = 256  "tcgen05.mma: bf16"
//! preset  FORM = 2, ROWS = 64      "tcgen05.mma: f16, f16 accumulators"
//! preset  FORM = 3, COLUMNS = 128  "tcgen05.mma: tf32"
//! preset  FORM = 5, COLUMNS = 128  "tcgen05.mma: e4m3 * e5m2"
//! preset  FORM = 12, COLUMNS = 64  when device.compute_capability == 100  "tcgen05.mma: s8"
//! reference tcgen05_mma_reference  grid LAYOUTS  block 256

#include "device/probe_operands.cuh"
#include "device/tcgen05.cuh"
#include "device/tensor_memory.cuh"

// Every shared-memory layout of the types: swizzles 0, 32, 64 and 128, K-major and MN-major (of tf32 K-major only).
using Types = probe::Types<FORM>;

#ifndef TMA_JIT_REFERENCE

constexpr int kSize = sizeof(Types::A), kDepth = 128 / kSize;
using Kind = probe::If < FORM <= 2, tcgen05::F16,
      probe::If<FORM == 3, tcgen05::Tf32, probe::If<FORM<12, tcgen05::F8f6f4, tcgen05::I8>::type>::type>::type;
// The types' numbers in an instruction descriptor.
constexpr u32 kA = FORM == 0 ? 1 : FORM <= 2 ? 0 : FORM == 3 ? 2 : FORM < 12 ? FORM >> 1 & 1 : FORM >> 1 & 1 ^ 1;
constexpr u32 kB = FORM <= 3 ? kA : FORM < 12 ? FORM & 1 : FORM & 1 ^ 1;
constexpr u32 kD = ptx::kSame<Types::D, f16> ? 0 : ptx::kSame<Types::D, f32> ? 1 : 2;

// Descriptor of a probe's tile of `rows` rows, `step` products of 32 bytes along K.
__device__ inline u64 descriptor(const u8* tile, probe::Layout layout, int rows, int step) {
  const u32 base = smem_address(tile), width = layout.swizzle, depth = 32 / kSize;
  const u64 swizzle = matrix::swizzle_code(width) << 62;
  if (layout.mn_major && width == 0)
    return swizzle | tcgen05::descriptor<0>(base + step * depth / 8 * 128, 128, kDepth / 8 * 128);
  if (layout.mn_major) return swizzle | tcgen05::descriptor<0>(base + step * depth * width, kDepth * width, 8 * width);
  if (width == 0) return tcgen05::descriptor<0>(base + step * rows * 32, rows * 16, 128);
  return swizzle | tcgen05::descriptor<0>(base + step * 32 / width * rows * width + step * 32 % width, 16, 8 * width);
}

struct Smem {
  alignas(1024) u8 a[ROWS * 128];
  alignas(1024) u8 b[(COLUMNS + 127) / 128 * 128 * 128];
};

__device__ inline f32 number(u32 bits) {
  if constexpr (kD == 1) return __uint_as_float(bits);
  return probe::accumulator<Types::D>(&bits, 0);
}

// One layout: fill the operands, multiply, fetch the accumulators. Row r of D lies in lane r, or, of 64 rows, in lane
// r % 16 + 32 * (r / 16); each warp reaches 32 lanes.
__device__ inline void check(Smem& smem, Barrier& done, u32 d, int layout, const View<const s8, 2>& A,
                             const View<const s8, 2>& B, const View<f32, 3>& D) {
  const int swizzle = layout % 4 == 0 ? 0 : 16 << layout % 4;
  const probe::Layout a = {swizzle, layout / 4 % 2 == 1}, b = {swizzle, layout / 8 == 1};
  __syncthreads();
  probe::fill<Types::A>(smem.a, a, ROWS, A);
  probe::fill<Types::B>(smem.b, b, COLUMNS, B);
  tcgen05::fence_before();
  probe::publish();
  tcgen05::fence_after();
  if (threadIdx.x == 0) {
    const tcgen05::Instruction what =
        tcgen05::Instruction(ROWS, COLUMNS, kA, kB).accumulators(kD).mn_major(a.mn_major, b.mn_major);
    for (int step = 0; step < 4; ++step)
      tcgen05::mma<Kind>(d, descriptor(smem.a, a, ROWS, step), descriptor(smem.b, b, COLUMNS, step), what, step > 0);
    tcgen05::commit(done);
  }
  done.wait(layout % 2);
  tcgen05::fence_after();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = ROWS == 128 ? threadIdx.x : lane < 16 ? warp * 16 + lane : ROWS;
#pragma unroll 1
  for (int column = 0; column < COLUMNS; column += 8) {
    u32 x[8];
    tensor_memory::ld<tensor_memory::Shape32x32b>(x, tensor_memory::at(d, warp * 32, column));
    tensor_memory::wait_ld();
    for (int i = 0; i < 8; ++i)
      if (row < ROWS) D.data[layout * D.stride[0] + row * D.stride[1] + column + i] = number(x[i]);
  }
}

extern "C" __global__ __launch_bounds__(128) void tcgen05_mma(View<const s8, 2> A, View<const s8, 2> B,
                                                              View<f32, 3> D) {
  extern __shared__ __align__(1024) u8 raw[];
  __shared__ Barrier done;
  __shared__ u32 allocated;
  Smem& smem = *reinterpret_cast<Smem*>(raw + (1024 - smem_address(raw) % 1024) % 1024);
  if (threadIdx.x == 0) {
    done.init(1);
    fence_barrier_init();
  }
  if (threadIdx.x < 32) {
    tensor_memory::alloc<256>(&allocated);
    tensor_memory::relinquish_alloc_permit();
  }
  tcgen05::fence_before();
  __syncthreads();
  tcgen05::fence_after();
#pragma unroll 1
  for (int layout = 0; layout < LAYOUTS; ++layout) check(smem, done, allocated, layout, A, B, D);
  tcgen05::fence_before();
  __syncthreads();
  if (threadIdx.x < 32) tensor_memory::dealloc<256>(allocated);
}

#else

extern "C" __global__ void tcgen05_mma_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 3> D) {
  for (int i = threadIdx.x; i < ROWS * COLUMNS; i += blockDim.x) {
    const int row = i / COLUMNS, column = i % COLUMNS;
    s32 sum = 0;
    for (int k = 0; k < K; ++k)
      sum += probe::value<Types::A>(A.data[row * A.stride[0] + k * A.stride[1]]) *
             probe::value<Types::B>(B.data[column * B.stride[0] + k * B.stride[1]]);
    D.data[blockIdx.x * D.stride[0] + row * D.stride[1] + column * D.stride[2]] = sum;
  }
}

#endif
