//! kernel  layer_norm "Y[i,j] = output((x[i,j] - mean) / sqrt(variance + eps) * W[j] + B[j]), x = input(X[i,j]), mean and variance of x[i,:]; clusters walk over rows, which bulk copies bring to shared memory"
//! arch    sm_90a, sm_100a, sm_103a
//! prefer  2
//! use     "device/reference/layer_norm.cuh"
//!
//! let     LINES   = M
//! let     LENGTH  = N
//! let     VECTORS = AFFINE
//! use     "device/reduce/ring_row.cuh"
//!
//! preset  CLUSTER = 2, PACKS = 3, CHUNKS = 1, SLOTS = 9, LAG = 1  when sizeof(T) == 2
//! preset  CLUSTER = 2, PACKS = 4, CHUNKS = 1, SLOTS = 6, LAG = 1  when sizeof(T) == 2
//! preset  THREADS = 448, CLUSTER = 2, PACKS = 3, CHUNKS = 2, SLOTS = 9, LAG = 1  when sizeof(T) == 2 && N > 32768
//! preset  CLUSTER = 4, PACKS = 3, CHUNKS = 1, SLOTS = 9, LAG = 1  when sizeof(T) == 2
//! preset  CLUSTER = 4, PACKS = 4, CHUNKS = 1, SLOTS = 6, LAG = 1  when sizeof(T) == 2
//! preset  THREADS = 448, CLUSTER = 4, PACKS = 2, CHUNKS = 3, SLOTS = 13, LAG = 1  when sizeof(T) == 2 && N > 65536
//! preset  CLUSTER = 8, PACKS = 3, CHUNKS = 1, SLOTS = 9, LAG = 1  when sizeof(T) == 2
//! preset  THREADS = 480, CLUSTER = 2, PACKS = 3, CHUNKS = 3, SLOTS = 9, LAG = 1  when sizeof(T) == 4
//! preset  CLUSTER = 8, PACKS = 4, CHUNKS = 1, SLOTS = 6, LAG = 1
//! preset  THREADS = 480, CLUSTER = 8, PACKS = 3, CHUNKS = 2, SLOTS = 9, LAG = 1  when sizeof(T) == 2
//! preset  THREADS = 480, CLUSTER = 8, PACKS = 3, CHUNKS = 3, SLOTS = 9, LAG = 1
//! preset  CLUSTER = 2, PACKS = 2, CHUNKS = 2, SLOTS = 13, LAG = 1  when sizeof(T) == 2
//! preset  CLUSTER = 4, PACKS = 2, CHUNKS = 2, SLOTS = 13, LAG = 1  when sizeof(T) == 2
//! preset  CLUSTER = 8, PACKS = 2, CHUNKS = 2, SLOTS = 13, LAG = 1  when sizeof(T) == 2
//! preset  THREADS = 480, CLUSTER = 16, PACKS = 3, CHUNKS = 3, SLOTS = 9, LAG = 1  when sizeof(T) == 4
//!
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require stride(Y, 1) == 1                        "elements of a row of Y are neighbours"
//! require AFFINE < 1 || stride(W, 0) == 1          "elements of W are neighbours"
//! require AFFINE < 2 || stride(B, 0) == 1          "elements of B are neighbours"
//! require SUM == 0 || stride(S, 1) == 1            "elements of a row of S are neighbours"
//! require N > 16384 && N <= 262144               "rows that are faster in a ring"
//! require N <= 131072 || sizeof(T) == 2 || CLUSTER == 16 "longer rows of 4 bytes an element leave no registers for vectors in smaller clusters"
//! require N <= 131072 || AFFINE < 2 || SUM == 0 "two vectors and two results of long rows need more registers than a thread has"
//! require PACKS <= 2 || AFFINE < 2 || SUM == 0 || sizeof(T) == 4 "two vectors and two results of several packs need more registers than a thread has"
//! require N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(Y) % 16 == 0 && stride(Y, 0) * sizeof(O) % 16 == 0 "rows begin at 16 bytes and are whole packs"
//! require AFFINE == 0 || alignment(W) % 16 == 0    "W is read in packs"
//! require AFFINE < 2 || alignment(B) % 16 == 0     "B is read in packs"
//! require SUM == 0 || (alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0) "rows of S are stored in packs"

#include "device/ptx/cvt.cuh"
#include "device/reduce/ring_row.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

// The mean of some elements, and the sum of the squares of their distances from it.
struct JoinedMoments {
  __device__ static Sums<2> neutral() { return {}; }
  template <int Width> __device__ static Sums<2> joined(const Sums<2>& moments, int size, int all) {
    const auto add = [](f32 a, f32 b) { return a + b; };
    const f32 sum = warp_reduce<Width>(moments.x[0] * static_cast<f32>(size), add);
    const f32 mean = __fdividef(sum, static_cast<f32>(max(all, 1)));
    const f32 distance = moments.x[0] - mean;
    return {mean, warp_reduce<Width>(moments.x[1] + distance * distance * static_cast<f32>(size), add)};
  }
};
using Row = RingRow<T, RingShape<THREADS, CLUSTER, PACKS, CHUNKS, SLOTS, LAG, AFFINE>, JoinedMoments>;
static_assert(sizeof(Row::Smem) <= SMEM);

extern "C" __global__ __launch_bounds__(THREADS + 32, 1) void layer_norm(View<const T, 2> X, View<const T, 1> W,
                                                                         View<const T, 1> B, View<O, 2> Y, View<T, 2> S,
                                                                         f32 eps, const Dims dims,
                                                                         const __grid_constant__ Hooks hooks) {
  const T* const vectors[2] = {W.data, B.data};
  Row row(X, vectors, dims.M, dims.N, shared_memory<Row::Smem>());
  const auto input = [&](f32 x, int column) { return hooks.input(x, row.row, column); };
  const f32 share = 1.0F / static_cast<f32>(max(row.size(), 1)), share_of_row = 1.0F / static_cast<f32>(dims.N);
  row.each_row(
      [&] {
        // Distances from the thread's first element: of n elements, of which it is one, their squares add up to no more
        // than n times those of the distances from the mean, so that the difference loses no more than the bits of n.
        f32 origin = 0, distances = 0, squares = 0;
        row.read(0.0F, input, [&](bool all, int chunk) {
          if (chunk == 0) origin = row.x[0];
#pragma unroll
          for (int p = 0; p < PACKS; ++p) {
#pragma unroll
            for (int i = 0; i < COUNT; ++i) {
              const f32 distance = all || row.holds(p, i) ? row.x[p * COUNT + i] - origin : 0.0F;
              distances += distance, squares += distance * distance;
            }
          }
        });
        const f32 mean = distances * share, about_mean = squares - mean * distances;
        return Sums<2>{origin + mean, about_mean < 0 ? 0 : about_mean};
      },
      [&](const Sums<2>& moments) {
        const f32 mean = moments.x[0], scale = rsqrtf(moments.x[1] * share_of_row + eps);
        row.read_again(0.0F, input, [&](bool, int chunk) {
          if constexpr (SUM) row.store(S);  // S may be X, or what the hook reads
          row.store(Y, [&](int p) {
            return [&, p](int i) {
              f32 y = (row.x[p * COUNT + i] - mean) * scale;
              if constexpr (AFFINE >= 1) y *= row.template vector<0>(chunk, p, i);
              if constexpr (AFFINE >= 2) y += row.template vector<1>(chunk, p, i);
              return hooks.output(y, row.row, row.column_of(p, i));
            };
          });
        });
      });
}

#else

#include "device/reference/layer_norm.cuh"

#endif
