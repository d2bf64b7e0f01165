//! kernel  gather   "D[i] = S[I[i]], rows by their numbers; a number that is no row's gives zeros"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/gather.cuh"
//!
//! dim     R, N           in 1..2147483647
//! dim     COUNT          in 0..2147483647
//!
//! param   ROWS    = 32   in {8, 16, 32}            "rows of a block"
//!
//! let     COLUMNS = min(256, 1024 / sizeof(T))
//! let     SMEM    = ROWS * COLUMNS * sizeof(T) + 128
//!
//! require N * sizeof(T) % 16 == 0                  "the TMA writes rows in units of 16 bytes"
//! require device.compute_capability != 90 || COUNT * N * sizeof(T) > 4194304 "on sm_90a few rows begin sooner without tensor maps"
//!
//! tensor  S : T[R, N]      box [1, COLUMNS]
//! tensor  I : s32[COUNT]  in 0..R - 1  checked
//! tensor  D : T[COUNT, N]  box [ROWS, COLUMNS]  out
//!
//! launch  grid ceil_div(COUNT, ROWS) * ceil_div(N, COLUMNS)  block 32  smem SMEM
//! work    flops 0  bytes 2 * COUNT * N * sizeof(T) + 4 * COUNT
//!
//! preset  ROWS = 8   when ceil_div(COUNT, 32) * ceil_div(N, COLUMNS) < 2 * device.sm_count
//! preset  ROWS = 32

#include "device/ptx/tma.cuh"
#include "device/reference/gather.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  alignas(128) T row[ROWS][COLUMNS];
  Barrier full;
};
static_assert(sizeof(Smem) <= SMEM);

// Each lane loads the row of its index, and all rows are stored as one box.
extern "C" __global__ __launch_bounds__(32) void gather(const __grid_constant__ CUtensorMap S, View<const s32, 1> I,
                                                        const __grid_constant__ CUtensorMap D, const Dims dims) {
  extern __shared__ __align__(128) u8 raw[];
  Smem& smem = *reinterpret_cast<Smem*>(raw);
  const u32 across = ceil_div<u32>(dims.N, COLUMNS);
  const int column = blockIdx.x % across * COLUMNS, first = blockIdx.x / across * ROWS, lane = threadIdx.x;
  if (lane == 0) {
    smem.full.init(1);
    fence_barrier_init();
    smem.full.expect(sizeof(smem.row));
  }
  __syncwarp();
  if (lane < ROWS) {
    const int i = first + lane;
    // An index outside the tensor gives a row of zeros; rows after the last index are not stored.
    const int row = i < dims.COUNT ? I.data[i * I.stride[0]] : -1;
    tma::load(smem.row[lane], S, smem.full, {column, row});
  }
  if (lane != 0) return;
  smem.full.wait(0);
  tma::store(D, smem.row, {column, first});
  tma::commit();
  tma::wait_read<0>();
}

#else

extern "C" __global__ void gather_reference(View<const T, 2> S, View<const s32, 1> I, View<f64, 2> D, const Dims dims) {
  reference_gather(S, I, D, dims.R, dims.N, dims.COUNT);
}

#endif
