//! kernel  ragged_batch  "D[b,i] = row i of matrix b, zeros below its last: matrices of L[b] rows each, one below the other in S"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = f32  in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     BATCH          in 0..65535
//! dim     TOTAL          in 1..2147483647          "rows of S"
//! dim     M, N           in 1..2147483647          "rows that each matrix is given in D, columns"
//!
//! param   ROWS    = 16   in {8, 16, 32}            "rows of a box"
//! param   STAGES  = 4    in {2, 4, 8}              "boxes in flight"
//!
//! let     COLUMNS = min(256, 512 / sizeof(T))
//! let     SMEM    = align_up(STAGES * (ROWS * COLUMNS * sizeof(T) + 8), 128) + 128
//! let     BLOCKS  = BATCH * ceil_div(N, COLUMNS)
//!
//! require SMEM <= device.smem_per_block            "the boxes in flight must fit in shared memory"
//! require N * sizeof(T) % 16 == 0                  "the TMA writes rows in units of 16 bytes"
//!
//! tensor  S : T[TOTAL, N]     box [ROWS, COLUMNS]  view
//! tensor  L : s32[BATCH]  in 0..M  checked         "less than 0 is no row, and more than M are M"
//! tensor  D : T[BATCH, M, N]  box [1, ROWS, COLUMNS]  out
//! workspace maps BLOCKS * 128                      "a tensor map of its matrix for each block"
//!
//! launch  grid BLOCKS  block 32  smem SMEM
//! work    flops 0  bytes 2 * BATCH * M * N * sizeof(T)
//! reference ragged_batch_reference  grid min(M, 65535), BATCH  block 256
//!
//! preset  ROWS = 8   when M <= 32
//! preset  ROWS = 16

#include "device/pipeline/pipelined_copy.cuh"
#include "device/ptx/cvt.cuh"
#include "device/ptx/tensormap.cuh"

// Clamps a length to 0 to M.
__device__ inline int length_of(const View<const s32, 1>& L, int matrix, int most) {
  return max(0, min(most, L.data[matrix * L.stride[0]]));
}

#ifndef TMA_JIT_REFERENCE

struct Smem {
  alignas(128) T box[STAGES][ROWS][COLUMNS];
  alignas(128) CUtensorMap map;
  Barrier full[STAGES];
};
static_assert(sizeof(Smem) <= SMEM);

// Returns the number of rows before a matrix, summed by the whole warp.
__device__ inline s64 first_row(const View<const s32, 1>& L, int matrix, int most) {
  s64 sum = 0;
  for (int i = threadIdx.x; i < matrix; i += 32) sum += length_of(L, i, most);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  return sum;
}

// Makes this matrix's map: that of S, but from the matrix's first row to its last, so that the part of a box below it
// is filled with zeros. A map has at least one row; for an empty matrix only the part below it is loaded. Called by the
// whole warp.
__device__ inline const CUtensorMap* make_map(CUtensorMap& scratch, CUtensorMap* made, const Mapped<T, 2>& S, s64 first,
                                              int rows) {
  tensormap::copy(scratch, S.map);
  if (threadIdx.x == 0) {
    tensormap::replace_address(scratch, S.view.data + first * S.view.stride[0]);
    tensormap::replace_dim<1>(scratch, max(rows, 1));
  }
  __syncwarp();
  tensormap::publish(made, scratch);
  return made;
}

extern "C" __global__ __launch_bounds__(32) void ragged_batch(const __grid_constant__ Mapped<T, 2> S,
                                                              View<const s32, 1> L,
                                                              const __grid_constant__ CUtensorMap D, u8* maps,
                                                              const Dims dims) {
  extern __shared__ __align__(128) u8 raw[];
  Smem& smem = *reinterpret_cast<Smem*>(raw);
  const u32 across = ceil_div<u32>(dims.N, COLUMNS);
  const int matrix = blockIdx.x / across, column = blockIdx.x % across * COLUMNS;
  const s64 first = first_row(L, matrix, dims.M);
  const int rows = static_cast<int>(max(s64{0}, min(s64{length_of(L, matrix, dims.M)}, dims.TOTAL - first)));
  const CUtensorMap* const map =
      make_map(smem.map, reinterpret_cast<CUtensorMap*>(maps) + blockIdx.x, S, rows == 0 ? 0 : first, rows);
  if (threadIdx.x != 0) return;
  fence::proxy_tensormap_acquire(map);
  init_pipelined_copy(smem.full);
  const int below = rows == 0 ? 1 : 0;
  pipelined_copy(
      smem.full, ceil_div<int>(dims.M, ROWS),
      [&](int i, int slot, Barrier& full) {
        full.expect(sizeof(smem.box[0]));
        tma::load(smem.box[slot], *map, full, {column, i * ROWS + below});
      },
      [&](int i, int slot) {
        tma::store(D, smem.box[slot], {column, i * ROWS, matrix});
      });
}

#else

extern "C" __global__ void ragged_batch_reference(View<const T, 2> S, View<const s32, 1> L, View<f64, 3> D,
                                                  const Dims dims) {
  const int matrix = blockIdx.y;
  s64 first = 0;
  for (int i = 0; i < matrix; ++i) first += length_of(L, i, dims.M);
  const int rows = length_of(L, matrix, dims.M);
  for (s64 i = blockIdx.x; i < dims.M; i += gridDim.x) {
    for (s64 c = threadIdx.x; c < dims.N; c += blockDim.x)
      D.data[matrix * D.stride[0] + i * D.stride[1] + c * D.stride[2]] =
          i < rows && first + i < dims.TOTAL ? to_f64(S.data[(first + i) * S.stride[0] + c * S.stride[1]]) : 0;
  }
}

#endif
