//! kernel  layer_norm_backward "the gradients of Y[i,j] = (X[i,j] - mean) / sqrt(variance + eps) * W[j] + B[j]: DX of X, DW of W and DB of B, from DY of Y; the next rows are copied to shared memory meanwhile"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/layer_norm_backward.cuh"
//!
//! let     VECTORS = AFFINE
//! use     "device/pipeline/row_pairs.cuh"
//!
//! preset  LANES = 4, PACKS = 1, SLOTS = 3, BLOCKS = 3
//! preset  LANES = 4, PACKS = 2, SLOTS = 2, BLOCKS = 2
//! preset  LANES = 8, PACKS = 2, SLOTS = 2, BLOCKS = 2
//! preset  LANES = 16, PACKS = 2, SLOTS = 2, BLOCKS = 2
//! preset  LANES = 32, PACKS = 2, SLOTS = 2, BLOCKS = 2
//! preset  LANES = 32, PACKS = 4, SLOTS = 2, BLOCKS = 2
//! preset  LANES = 128, THREADS = 128, PACKS = 1, SLOTS = 4, BLOCKS = 4
//! preset  LANES = 128, THREADS = 128, PACKS = 2, SLOTS = 4, BLOCKS = 4
//! preset  LANES = 128, THREADS = 128, PACKS = 4, SLOTS = 4, BLOCKS = 4
//! preset  LANES = 256, THREADS = 256, PACKS = 2, SLOTS = 3, BLOCKS = 2
//! preset  LANES = 256, THREADS = 256, PACKS = 4, SLOTS = 3, BLOCKS = 2
//! preset  LANES = 512, THREADS = 512, PACKS = 2, SLOTS = 3, BLOCKS = 1
//! preset  LANES = 512, THREADS = 512, PACKS = 4, SLOTS = 2, BLOCKS = 1

#include "device/pipeline/row_pairs.cuh"
#include "device/ptx/cvt.cuh"
#include "device/reduce/column_sums.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

// With g = DY * W and h = (X - mean) * r: DX = r * (g - mean(g) - h * mean(g * h)); DW is the sum of DY * h and DB that
// of DY over the rows.
extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void layer_norm_backward(
    View<const T, 2> X, View<const T, 1> W, View<const T, 2> DY, View<T, 2> DX, View<G, 1> DW, View<G, 1> DB,
    unsigned char* parts, unsigned char* counters, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  using Row = RegisterRow<THREADS, LANES, 1, COUNT, PACKS, true>;
  __shared__ Sums<2> partial[2][THREADS / 32];
  ColumnSums<THREADS, LANES, COUNT, PACKS, AFFINE> columns(parts, counters);
  const int rows = columns.is_worker() ? dims.M : 0, step = columns.workers() * ROWS;
  Row row(rows, dims.N);
  RowPairs<T, THREADS, ROWS, SLOTS> pairs(&shared_memory<u8>(), X, DY, rows, dims.N, blockIdx.x * ROWS, step);
  typename Row::Raw<T> weight;
#pragma unroll
  for (int p = 0; p < PACKS; ++p)
    if constexpr (AFFINE >= 1) weight.pack[p] = row.load_vector(W, p);
  const int own = threadIdx.x / LANES;
  const f32 count = static_cast<f32>(dims.N);
  // Invariant: between two uses of a partial sum there is the barrier of the other.
  for (int left = rows - static_cast<int>(blockIdx.x) * ROWS; left > 0; left -= step) {
    pairs.wait();
    f32 x[PACKS * COUNT];
    Sums<2> means = {}, squares = {};  // of x and g; of (x - mean)^2 and g * (x - mean)
    {
      const auto in = row.load_raw(pairs.a(own)), dy = row.load_raw(pairs.b(own));
#pragma unroll
      for (int p = 0; p < PACKS; ++p) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
          f32& g = row.x[p * COUNT + i] = to_f32(dy.pack[p].at(i));
          if constexpr (AFFINE >= 2) columns.x[1][p * COUNT + i] += g;
          if constexpr (AFFINE >= 1) g *= to_f32(weight.pack[p].at(i));
          means.x[0] += x[p * COUNT + i] = to_f32(in.pack[p].at(i)), means.x[1] += g;
        }
      }
    }
    means = row.sums(partial[0], means);
    pairs.refill();
    const f32 mean = means.x[0] / count;
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        f32& e = x[p * COUNT + i];
        e = row.whole(p) ? e - mean : 0.0F;
        squares.x[0] += e * e, squares.x[1] += e * row.x[p * COUNT + i];
      }
    }
    squares = row.sums(partial[1], squares);
    const f32 r = rsqrtf(squares.x[0] / count + eps);
    const f32 offset = means.x[1] / count * r, factor = squares.x[1] / count * r * r * r;
    row.store(DX, [&](int p) {
      Words<T, COUNT> dy;
      if constexpr (AFFINE >= 1) dy = row.load_pack_of(pairs.b(own), p);
      return [&, p, dy](int i) {
        const f32 e = x[p * COUNT + i];
        if constexpr (AFFINE >= 1) columns.x[0][p * COUNT + i] += to_f32(dy.at(i)) * (e * r);
        return hooks.output(r * row.x[p * COUNT + i] - offset - e * factor, row.row, row.column_of(p, i));
      };
    });
    pairs.release();
    row.advance(step, rows, dims.N);
  }
  if constexpr (AFFINE >= 1) {
    columns.finish([&](int vector, int column, f32 sum) {
      if (column >= dims.N) return;
      if (vector == 0)
        DW.data[column * DW.stride[0]] = from_f32<G>(sum);
      else
        DB.data[column * DB.stride[0]] = from_f32<G>(sum);
    });
  }
}

#else

#include "device/reference/layer_norm_backward.cuh"

#endif
