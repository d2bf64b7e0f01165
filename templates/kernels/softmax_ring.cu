//! kernel  softmax  "D[i,j] = exp(x[i,j]) / sum over j of exp(x[i,j]), x = score(S[i,j]); clusters walk over rows, which bulk copies bring to shared memory"
//! arch    sm_90a, sm_100a, sm_103a
//! prefer  2
//! use     "device/reference/softmax.cuh"
//!
//! let     LINES   = M
//! let     LENGTH  = N
//! let     VECTORS = 0
//! use     "device/reduce/ring_row.cuh"
//!
//! preset  CLUSTER = 8, PACKS = 4, CHUNKS = 4, SLOTS = 6  when sizeof(T) == 4
//! preset  CLUSTER = 8, PACKS = 2, CHUNKS = 4, SLOTS = 13, LAG = 1  when sizeof(T) == 2
//!
//! require stride(S, 1) == 1                        "elements of a row of S are neighbours"
//! require stride(D, 1) == 1                        "elements of a row of D are neighbours"
//! require N > 131072 && N <= 262144             "rows that are faster in a ring"
//! require N * sizeof(T) % 16 == 0 && alignment(S) % 16 == 0 && stride(S, 0) * sizeof(T) % 16 == 0 && alignment(D) % 16 == 0 && stride(D, 0) * sizeof(O) % 16 == 0 "rows begin at 16 bytes and are whole packs"

#include "device/ptx/cvt.cuh"
#include "device/ptx/ex2.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/ring_row.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

// The greatest of some elements x, and the sum of exp2(x - greatest); of none, minus infinity and 0.
struct JoinedExponentials {
  __device__ static Sums<2> neutral() { return {-infinity(), 0}; }
  template <int Width> __device__ static Sums<2> joined(const Sums<2>& found, int, int) {
    const f32 greatest = warp_reduce<Width>(found.x[0], [](f32 a, f32 b) { return fmaxf(a, b); });
    const f32 origin = greatest == -infinity() ? 0.0F : greatest;
    return {greatest, warp_reduce<Width>(found.x[1] * ex2(found.x[0] - origin), [](f32 a, f32 b) { return a + b; })};
  }
};
using Row = RingRow<T, RingShape<THREADS, CLUSTER, PACKS, CHUNKS, SLOTS, LAG, 0>, JoinedExponentials>;
static_assert(sizeof(Row::Smem) <= SMEM);

extern "C" __global__ __launch_bounds__(THREADS + 32, 1) void softmax(View<const T, 2> S, View<O, 2> D, const Dims dims,
                                                                      const __grid_constant__ Hooks hooks) {
  const f32 none = -infinity();
  const T* const vectors[2] = {};
  Row row(S, vectors, dims.M, dims.N, shared_memory<Row::Smem>());
  const auto score = [&](f32 x, int column) { return hooks.score(x, row.row, column) * kLog2e; };
  row.each_row(
      [&] {
        // Invariant: `sum` is that of the chunks before, relative to their greatest element.
        f32 greatest = none, sum = 0;
        row.read(none, score, [&](bool, int) {
          f32 greater = greatest;
#pragma unroll
          for (const f32 x : row.x) greater = fmaxf(greater, x);
          const f32 origin = greater == none ? 0.0F : greater;
          sum *= ex2(greatest - origin);
#pragma unroll
          for (const f32 x : row.x) sum += ex2(x - origin);
          greatest = greater;
        });
        return Sums<2>{greatest, sum};
      },
      [&](const Sums<2>& all) {
        const f32 scale = 1.0F / all.x[1];
        row.read_again(none, score, [&](bool, int) {
#pragma unroll
          for (f32& x : row.x) x = ex2(x - all.x[0]) * scale;
          row.store(D);
        });
      });
}

#else

#include "device/reference/softmax.cuh"

#endif
