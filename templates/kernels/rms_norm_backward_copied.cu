//! kernel  rms_norm_backward "the gradients of Y[i,j] = x[i,j] * r[i] * W[j], r[i] = 1 / sqrt(mean of x[i,:]^2 + eps): DX of X, and DW of W, from DY of Y; the next rows are copied to shared memory meanwhile"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/rms_norm_backward.cuh"
//!
//! let     VECTORS = WEIGHT
//! use     "device/pipeline/row_pairs.cuh"
//!
//! param   AGAIN   = 1     in {0, 1}                "1: X and DY * W are read and computed again for DX, for lack of registers"
//!
//! require AGAIN == (BLOCKS * THREADS > 512)        "what a thread keeps must fit into its registers"
//!
//! preset  LANES = 4, PACKS = 1, SLOTS = 3, BLOCKS = 4, AGAIN = 1
//! preset  LANES = 4, PACKS = 2, SLOTS = 2, BLOCKS = 3, AGAIN = 1
//! preset  LANES = 8, PACKS = 2, SLOTS = 2, BLOCKS = 3, AGAIN = 1
//! preset  LANES = 16, PACKS = 2, SLOTS = 2, BLOCKS = 3, AGAIN = 1
//! preset  LANES = 32, PACKS = 2, SLOTS = 2, BLOCKS = 3, AGAIN = 1
//! preset  LANES = 32, PACKS = 4, SLOTS = 2, BLOCKS = 3, AGAIN = 1
//! preset  LANES = 128, THREADS = 128, PACKS = 1, SLOTS = 4, BLOCKS = 4, AGAIN = 0
//! preset  LANES = 128, THREADS = 128, PACKS = 2, SLOTS = 4, BLOCKS = 4, AGAIN = 0
//! preset  LANES = 128, THREADS = 128, PACKS = 4, SLOTS = 4, BLOCKS = 4, AGAIN = 0
//! preset  LANES = 256, THREADS = 256, PACKS = 2, SLOTS = 3, BLOCKS = 3, AGAIN = 1
//! preset  LANES = 256, THREADS = 256, PACKS = 4, SLOTS = 3, BLOCKS = 2, AGAIN = 0
//! preset  LANES = 512, THREADS = 512, PACKS = 2, SLOTS = 3, BLOCKS = 2, AGAIN = 1
//! preset  LANES = 512, THREADS = 512, PACKS = 2, SLOTS = 2, BLOCKS = 1, AGAIN = 0
//! preset  LANES = 512, THREADS = 512, PACKS = 4, SLOTS = 2, BLOCKS = 1, AGAIN = 0

#include "device/pipeline/row_pairs.cuh"
#include "device/ptx/cvt.cuh"
#include "device/reduce/column_sums.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

// With g = DY * W and h = x * r: DX = r * (g - h * mean(g * h)), and DW is the sum of DY * h over the rows.
extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void rms_norm_backward(
    View<const T, 2> X, View<const T, 1> W, View<const T, 2> DY, View<T, 2> DX, View<G, 1> DW, unsigned char* parts,
    unsigned char* counters, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  using Row = RegisterRow<THREADS, LANES, 1, COUNT, PACKS, true>;
  __shared__ Sums<2> partial[2][THREADS / 32];
  ColumnSums<THREADS, LANES, COUNT, PACKS, WEIGHT> columns(parts, counters);
  const int rows = columns.is_worker() ? dims.M : 0, step = columns.workers() * ROWS;
  Row row(rows, dims.N);
  RowPairs<T, THREADS, ROWS, SLOTS> pairs(&shared_memory<u8>(), X, DY, rows, dims.N, blockIdx.x * ROWS, step);
  typename Row::Raw<T> weight;
#pragma unroll
  for (int p = 0; p < PACKS; ++p)
    if constexpr (WEIGHT) weight.pack[p] = row.load_vector(W, p);
  const int own = threadIdx.x / LANES;
  const f32 count = static_cast<f32>(dims.N);
  // Invariant: a partial sum of one row is overwritten two rows later, after the barrier of the row between.
  for (int left = rows - static_cast<int>(blockIdx.x) * ROWS, turn = 0; left > 0; left -= step, turn ^= 1) {
    pairs.wait();
    f32 x[AGAIN ? 1 : PACKS * COUNT];
    Sums<2> sums = {};  // of x * x and of g * x
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      const Words<T, COUNT> in = row.load_pack_of(pairs.a(own), p), dy = row.load_pack_of(pairs.b(own), p);
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        const f32 e = to_f32(in.at(i)), g = WEIGHT ? to_f32(dy.at(i)) * to_f32(weight.pack[p].at(i)) : to_f32(dy.at(i));
        if constexpr (!AGAIN) x[p * COUNT + i] = e, row.x[p * COUNT + i] = g;
        sums.x[0] += e * e, sums.x[1] += e * g;
      }
    }
    sums = row.sums(partial[turn], sums);
    pairs.refill();
    const f32 r = rsqrtf(sums.x[0] / count + eps), factor = sums.x[1] / count * r * r * r;
    row.store(DX, [&](int p) {
      Words<T, COUNT> in, dy;
      if constexpr (AGAIN) in = row.load_pack_of(pairs.a(own), p);
      if constexpr (AGAIN || WEIGHT) dy = row.load_pack_of(pairs.b(own), p);
      return [&, p, in, dy](int i) {
        const f32 e = AGAIN ? to_f32(in.at(i)) : x[p * COUNT + i];
        if constexpr (WEIGHT) columns.x[0][p * COUNT + i] += to_f32(dy.at(i)) * (e * r);
        f32 g = row.x[p * COUNT + i];
        if constexpr (AGAIN) g = WEIGHT ? to_f32(dy.at(i)) * to_f32(weight.pack[p].at(i)) : to_f32(dy.at(i));
        return hooks.output(r * g - e * factor, row.row, row.column_of(p, i));
      };
    });
    pairs.release();
    row.advance(step, rows, dims.N);
  }
  if constexpr (WEIGHT) {
    columns.finish([&](int, int column, f32 sum) {
      if (column < dims.N) DW.data[column * DW.stride[0]] = from_f32<G>(sum);
    });
  }
}

#else

#include "device/reference/rms_norm_backward.cuh"

#endif
