#pragma once
// The consumer of a matrix product by mma.sync whose operands are loaded by TMA.
#include "device/pipeline/pipeline.cuh"
#include "device/tile/mma_tile.cuh"

namespace mma {

// Multiplies `steps` steps of K columns of the M rows of A from `row` on and the N rows of B from `column` on. Called
// by each consumer warp. Smem has operand tiles `a` and `b` of each slot of its `pipeline`. Loop invariant: while one
// product along K is multiplied, the operands of the next are being loaded, also across slots. Terms is for f32
// (tile/tf32_terms.cuh).
template <class T, int M, int N, int K, int Terms = 1, class U = T, class Smem, int Stages>
__device__ inline void multiply_tile(Smem& smem, Consumer<Stages, 1>& consumer, int steps, int row, int column,
                                     RegisterTile<layout::Mma<M, N>, typename Unit<T>::Sum>& acc) {
  constexpr int kNext = kDepth<T>;
  static_assert(K / kNext % 2 == 0);
  acc.fill(0);
  if (steps == 0) return;
  Operands<T, M, N, U> operands[2];
  u32 slot = consumer.wait();
  operands[0].load(smem.a[slot], row, smem.b[slot], column, 0);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const u32 current = slot;
#pragma unroll
    for (int k = 0; k < K; k += kNext) {
      auto& next = operands[(k / kNext + 1) % 2];
      if (k + kNext < K) {
        next.load(smem.a[current], row, smem.b[current], column, k + kNext);
      } else if (step + 1 < steps) {
        slot = consumer.wait();
        next.load(smem.a[slot], row, smem.b[slot], column, 0);
      }
      operands[k / kNext % 2].template multiply<Terms>(acc);
    }
    smem.pipeline.release_warp(current);
  }
}

}  // namespace mma
