//! kernel  tcgen05_pair "D = A * B^T by two blocks of a cluster: tcgen05.mma of cta_group::2, each with half of A and half of B"
//! arch    sm_100a, sm_103a
//! param   FORM    = 0    in {0, 3, 4, 12}          "0 bf16, 3 tf32, 4 e4m3, 12 s8"
//! param   ROWS    = 256  in {128, 256}             "M of the instruction"
//! param   COLUMNS = 64   in {32, 64, 256}          "N of the instruction"
//! let     K       = FORM == 0 ? 64 : FORM == 3 ? 32 : 128  "128 bytes"
//! require FORM < 12 || device.compute_capability == 100 "only sm_100a multiplies integers"
//! tensor  A : s8[ROWS, K]
//! tensor  B : s8[COLUMNS, K]
//! tensor  D : f32[ROWS, COLUMNS]  out
//! cluster 2
//! launch  grid 2  block 128  smem (ROWS / 2 + max(COLUMNS / 2, 8)) * 128 + 2048
//! work    flops 2 * ROWS * COLUMNS * K  bytes 4 * ROWS * COLUMNS
//! preset  FORM = 0, COLUMNS = 256              "tcgen05.mma: by two blocks"
//! preset  FORM = 4, ROWS = 128                 "tcgen05.mma: by two blocks, 128 rows"
//! preset  FORM = 3, COLUMNS = 32               "tcgen05.mma: by two blocks, tf32"
//! preset  FORM = 12                            when device.compute_capability == 100  "tcgen05.mma: by two blocks, s8"
//! reference tcgen05_pair_reference  grid ROWS  block COLUMNS

#include "device/probe/tcgen05.cuh"
#include "device/ptx/cluster.cuh"

#ifndef TMA_JIT_REFERENCE

using Unit = probe::TensorCore<FORM>;
constexpr probe::Layout kLayout = {128, false};

struct Smem {
  alignas(1024) u8 a[ROWS / 2 * 128];
  alignas(1024) u8 b[COLUMNS / 2 * 128];
};

// Returns the rows of a tensor from `first` on.
__device__ inline View<const s8, 2> from_row(View<const s8, 2> tensor, int first) {
  tensor.data += first * tensor.stride[0];
  return tensor;
}

// Of 256 rows each block has 128 and all columns. Of 128 rows it has 64: lanes 0 to 63 have the first half of the
// columns, lanes 64 to 127 the second.
__device__ inline void store(const View<f32, 2>& D, u32 d, int rank) {
  constexpr int kWidth = ROWS == 256 ? COLUMNS : COLUMNS / 2;
  const int row = rank * ROWS / 2 + threadIdx.x % (ROWS / 2), first = threadIdx.x / (ROWS / 2) * kWidth;
#pragma unroll 1
  for (int column = 0; column < kWidth; column += 8) {
    u32 x[8];
    probe::load_eight(x, d, column);
    for (int i = 0; i < 8; ++i) D.data[row * D.stride[0] + first + column + i] = Unit::number(x[i]);
  }
}

extern "C" __global__ __launch_bounds__(128) void tcgen05_pair(View<const s8, 2> A, View<const s8, 2> B,
                                                               View<f32, 2> D) {
  extern __shared__ __align__(1024) u8 raw[];
  __shared__ probe::TensorMemory<256, 2> memory;
  Smem& smem = probe::aligned<Smem>(raw);
  const int rank = cluster::rank();
  probe::fill<Unit::TA>(smem.a, kLayout, ROWS / 2, from_row(A, rank * ROWS / 2));
  probe::fill<Unit::TB>(smem.b, kLayout, COLUMNS / 2, from_row(B, rank * COLUMNS / 2));
  memory.open();  // afterwards both blocks' halves and barriers are usable
  if (rank == 0 && threadIdx.x == 0) {
    for (int step = 0; step < 4; ++step)
      tcgen05::mma<Unit::Kind, 2>(memory.address, probe::descriptor<Unit::TA>(smem.a, kLayout, ROWS / 2, step),
                                  probe::descriptor<Unit::TB>(smem.b, kLayout, COLUMNS / 2, step),
                                  Unit::instruction(ROWS, COLUMNS), step > 0);
    tcgen05::commit_multicast<2>(memory.done, 3);
  }
  memory.done.wait(0);
  tcgen05::fence_after();
  store(D, memory.address, rank);
  memory.close();  // no block may exit while the other still uses its memory
}

#else

extern "C" __global__ void tcgen05_pair_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 2> D) {
  D.data[blockIdx.x * D.stride[0] + threadIdx.x * D.stride[1]] = probe::product<FORM>(A, B, blockIdx.x, threadIdx.x);
}

#endif
