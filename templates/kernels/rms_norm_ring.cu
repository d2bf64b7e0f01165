//! kernel  rms_norm "Y[i,j] = output(x[i,j] / sqrt(mean of x[i,:]^2 + eps) * W[j]), x = input(X[i,j]); clusters walk over rows, which bulk copies bring to shared memory"
//! arch    sm_90a, sm_100a, sm_103a
//! prefer  2
//! use     "device/reference/rms_norm.cuh"
//!
//! let     LINES   = M
//! let     LENGTH  = N
//! let     VECTORS = WEIGHT
//! use     "device/reduce/ring_row.cuh"
//!
//! preset  CLUSTER = 2, PACKS = 2, CHUNKS = 4, SLOTS = 13, LAG = 1  when sizeof(T) == 2
//! preset  CLUSTER = 8, PACKS = 4, CHUNKS = 1, SLOTS = 6, LAG = 1  when sizeof(T) == 2
//! preset  CLUSTER = 8, PACKS = 4, CHUNKS = 2, SLOTS = 6, LAG = 1  when sizeof(T) == 2
//! preset  CLUSTER = 8, PACKS = 2, CHUNKS = 4, SLOTS = 13, LAG = 1  when sizeof(T) == 2
//! preset  THREADS = 480, CLUSTER = 8, PACKS = 3, CHUNKS = 3, SLOTS = 9, LAG = 1  when sizeof(T) == 4
//! preset  THREADS = 480, CLUSTER = 8, PACKS = 3, CHUNKS = 6, SLOTS = 9  when sizeof(T) == 4
//!
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require stride(Y, 1) == 1                        "elements of a row of Y are neighbours"
//! require WEIGHT == 0 || stride(W, 0) == 1         "elements of W are neighbours"
//! require SUM == 0 || stride(S, 1) == 1            "elements of a row of S are neighbours"
//! require N > (sizeof(T) == 4 ? 65536 : 32768) && N <= 262144 "rows that are faster in a ring"
//! require PACKS <= 2 || SUM == 0 || sizeof(T) == 4 || sizeof(O) < 4 "two results of several packs need more registers than a thread has"
//! require N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(Y) % 16 == 0 && stride(Y, 0) * sizeof(O) % 16 == 0 "rows begin at 16 bytes and are whole packs"
//! require WEIGHT == 0 || alignment(W) % 16 == 0    "W is read in packs"
//! require SUM == 0 || (alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0) "rows of S are stored in packs"

#include "device/ptx/cvt.cuh"
#include "device/reduce/ring_row.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

// The sum of the squares of some elements.
struct JoinedSquares {
  __device__ static Sums<2> neutral() { return {}; }
  template <int Width> __device__ static Sums<2> joined(const Sums<2>& squares, int, int) {
    return {warp_reduce<Width>(squares.x[0], [](f32 a, f32 b) { return a + b; })};
  }
};
using Row = RingRow<T, RingShape<THREADS, CLUSTER, PACKS, CHUNKS, SLOTS, LAG, WEIGHT>, JoinedSquares>;
static_assert(sizeof(Row::Smem) <= SMEM);

extern "C" __global__ __launch_bounds__(THREADS + 32, 1) void rms_norm(View<const T, 2> X, View<const T, 1> W,
                                                                       View<O, 2> Y, View<T, 2> S, f32 eps,
                                                                       const Dims dims,
                                                                       const __grid_constant__ Hooks hooks) {
  const T* const vectors[2] = {W.data};
  Row row(X, vectors, dims.M, dims.N, shared_memory<Row::Smem>());
  const f32 share = 1.0F / static_cast<f32>(dims.N);
  const auto input = [&](f32 x, int column) { return hooks.input(x, row.row, column); };
  row.each_row(
      [&] {
        f32 squares = 0;
        row.read(0.0F, input, [&](bool, int) {
#pragma unroll
          for (const f32 x : row.x) squares += x * x;
        });
        return Sums<2>{squares};
      },
      [&](const Sums<2>& squares) {
        const f32 scale = rsqrtf(squares.x[0] * share + eps);
        row.read_again(0.0F, input, [&](bool, int chunk) {
          if constexpr (SUM) row.store(S);  // S may be X, or what the hook reads
          row.store(Y, [&](int p) {
            return [&, p](int i) {
              f32 y = row.x[p * COUNT + i] * scale;
              if constexpr (WEIGHT) y *= row.template vector<0>(chunk, p, i);
              return hooks.output(y, row.row, row.column_of(p, i));
            };
          });
        });
      });
}

#else

#include "device/reference/rms_norm.cuh"

#endif
