//! kernel  reduce_scatter  "D0, D1, ... = the slices of rows of the sum of P[p] over all parts p, summed by the TMA in L2"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = f32  in {f32, bf16, f16, s32}   "sums are rounded to it at every addition"
//! dim     PARTS          in 1..1024
//! dim     M, N           in 0..2147483647            "rows of a slice, columns"
//!
//! param   SLICES  = 1   in {1, 2, 4}                 "outputs, one below the other in P"
//! param   ROWS    = 16  in {8, 16, 32}               "rows of a box"
//!
//! let     COLUMNS = 512 / sizeof(T)
//! let     SMEM    = ROWS * COLUMNS * sizeof(T) + 128
//! let     DOWN    = ceil_div(M, ROWS)
//! let     ACROSS  = ceil_div(N, COLUMNS)
//! let     BOXES   = SLICES * DOWN * ACROSS
//! let     LOSES   = (PARTS > 4) + (PARTS > 16) + (PARTS > 64) + (PARTS > 256)  "bits, as the root of PARTS grows"
//! let     BITS    = sizeof(T) == 4 || PARTS <= 2 ? 0 : dtype(T) == dtype(f16) ? 8 - LOSES : 5 - LOSES
//!
//! require SLICES * M <= 2147483647                   "rows of P are counted in 31 bits"
//! require N * sizeof(T) % 16 == 0                    "the TMA writes rows in units of 16 bytes"
//!
//! tensor  P  : T[PARTS, SLICES * M, N]  box [1, ROWS, COLUMNS]
//! tensor  D0 : T[M, N]  box [ROWS, COLUMNS]  out
//! tensor  D1 : T[M, N]  box [ROWS, COLUMNS]  out  when SLICES >= 2
//! tensor  D2 : T[M, N]  box [ROWS, COLUMNS]  out  when SLICES >= 4
//! tensor  D3 : T[M, N]  box [ROWS, COLUMNS]  out  when SLICES >= 4
//! workspace stored BOXES * 4 zero                    "parts that each box has seen"
//!
//! launch  grid BOXES * PARTS  block 32  smem SMEM
//! work    flops PARTS * SLICES * M * N  bytes (PARTS + 1) * SLICES * M * N * sizeof(T)
//! reference reduce_scatter_reference  grid min(ceil_div(M * N, 256), 65536), SLICES  block 256  bits BITS "every addition rounds to T"
//!
//! preset  ROWS = 16

#include "device/ptx/acquire.cuh"
#include "device/ptx/cvt.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/tma_reduce.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  alignas(128) T box[ROWS][COLUMNS];
  Barrier full;
};
static_assert(sizeof(Smem) <= SMEM);

// Stores the first part of a box, so that the outputs need not be cleared; the other parts wait for it and are added.
// Blocks start in the order of their indices and those of the first part come first, so that the part waited for is
// always running or done. The last part resets the count to 0 for the next launch.
__device__ inline void put(const CUtensorMap& D, const Smem& smem, u32* stored, u32 part, u32 parts, int column,
                           int row) {
  if (part == 0) {
    tma::store(D, smem.box, {column, row});
  } else {
    while (global::load_acquire(stored) == 0) __nanosleep(100);
    fence::proxy_async_global();
    tma::reduce<Reduction::add>(D, smem.box, {column, row});
  }
  tma::commit();
  tma::wait<0>();
  fence::proxy_async_global();
  __threadfence();
  if (atomicAdd(stored, 1) + 1 == parts) atomicExch(stored, 0);
}

extern "C" __global__ __launch_bounds__(32) void reduce_scatter(const __grid_constant__ CUtensorMap P,
                                                                const __grid_constant__ CUtensorMap D0,
                                                                const __grid_constant__ CUtensorMap D1,
                                                                const __grid_constant__ CUtensorMap D2,
                                                                const __grid_constant__ CUtensorMap D3, u8* stored,
                                                                const Dims dims) {
  extern __shared__ __align__(128) u8 raw[];
  Smem& smem = *reinterpret_cast<Smem*>(raw);
  if (threadIdx.x != 0) return;
  const u32 across = ceil_div<u32>(dims.N, COLUMNS), down = ceil_div<u32>(dims.M, ROWS);
  const u32 boxes = SLICES * down * across, part = blockIdx.x / boxes, box = blockIdx.x % boxes;
  const int column = box % across * COLUMNS, row = box / across % down * ROWS, slice = box / across / down;

  smem.full.init(1);
  fence_barrier_init();
  smem.full.expect(sizeof(smem.box));
  tma::load(smem.box, P, smem.full, {column, slice * dims.M + row, static_cast<int>(part)}, l2::kEvictFirst);
  smem.full.wait(0);
  const CUtensorMap& D = slice == 0 ? D0 : slice == 1 ? D1 : slice == 2 ? D2 : D3;
  put(D, smem, reinterpret_cast<u32*>(stored) + box, part, dims.PARTS, column, row);
}

#else

extern "C" __global__ void reduce_scatter_reference(View<const T, 3> P, View<f64, 2> D0, View<f64, 2> D1,
                                                    View<f64, 2> D2, View<f64, 2> D3, const Dims dims) {
  const s64 count = s64{dims.M} * dims.N;
  const int slice = blockIdx.y;
  const View<f64, 2>& D = slice == 0 ? D0 : slice == 1 ? D1 : slice == 2 ? D2 : D3;
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += s64{gridDim.x} * blockDim.x) {
    const s64 row = i / dims.N, column = i % dims.N;
    f64 sum = 0;
    for (s64 p = 0; p < dims.PARTS; ++p)
      sum += to_f64(P.data[p * P.stride[0] + (slice * s64{dims.M} + row) * P.stride[1] + column * P.stride[2]]);
    D.data[row * D.stride[0] + column * D.stride[1]] = sum;
  }
}

#endif
