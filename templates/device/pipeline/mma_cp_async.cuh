#pragma once
// A matrix product by mma.sync whose operands all threads of a block copy by cp.async, from tensors with any address
// and pitch. A Problem says what is multiplied:
//   k, tiles                 columns of A and B, and this block's tiles of D
//   start(tile, a, b)        starts the TileCopy of A and that of B at the tile's rows of each
// Smem has tiles `a` and `b` for each slot.
#include "device/pipeline/cp_async_pipeline.cuh"
#include "device/tile/cp_async_tile.cuh"
#include "device/tile/mma_tile.cuh"
#include "device/tile/shared_memory.cuh"

namespace mma {

// Copies the steps of all tiles of this block, some steps ahead of the products. If K is 0, copies nothing, and the
// only step multiplies the zeros that all slots contain.
template <class Smem, class Problem, int Threads, int Vec> class OperandCopies {
  using TileA = typename Smem::TileA;
  using TileB = typename Smem::TileB;

  const Problem& problem_;
  cp_async::TileCopy<TileA, Threads, Vec> a_;
  cp_async::TileCopy<TileB, Threads, Vec> b_;
  decltype(static_cast<const Problem*>(nullptr)->tiles.begin()) index_;
  int step_ = 0;

 public:
  static constexpr int kDepth = TileA::kColumns;  // columns of a step

  __device__ explicit OperandCopies(const Problem& p) : problem_(p), index_(p.k > 0 ? p.tiles.begin() : p.tiles.end()) {
    p.start(p.tiles[*index_], a_, b_);
  }
  __device__ static int steps(const Problem& p) { return max(1, ceil_div<u32>(p.k, kDepth)); }
  // Starts one of Parts shares of the next step's copies; does nothing once every tile is copied.
  template <int Parts> __device__ void copy(Smem& smem, u32 slot, int part) const {
    if (index_ != problem_.tiles.end()) cp_async::copy_part<Parts>(a_, smem.a[slot], b_, smem.b[slot], part);
  }
  __device__ void advance() {
    a_.advance();
    b_.advance();
    if (++step_ < steps(problem_)) return;
    step_ = 0;
    ++index_;
    if (index_ != problem_.tiles.end()) problem_.start(problem_.tiles[*index_], a_, b_);
  }
};

// Clears the slots if K has fewer steps. Operands are read one step ahead, so that the end of a short problem reads
// slots that no copy has filled. The values are not used, but reading uninitialised shared memory is an error for
// checkers. Called by the whole block.
template <int Stages, int Threads, class Smem> __device__ inline void clear_unfilled(Smem& smem, int k) {
  if (ceil_div<u32>(k, Smem::TileA::kColumns) >= Stages) return;
  clear<Threads>(smem.a);
  clear<Threads>(smem.b);
  __syncthreads();
}

// Multiplies this block's tiles: of each the M rows from `row` on and the N columns from `column` on, for each warp,
// and calls store(tile, sums). Called by the whole block, after clear_unfilled.
template <class T, class U, int M, int N, int Terms, int Stages, int Threads, int Vec, class Smem, class Problem,
          class Store>
__device__ inline void multiply_copied(Smem& smem, const Problem& p, int row, int column, Store store) {
  using Copies = OperandCopies<Smem, Problem, Threads, Vec>;
  constexpr int kStep = Copies::kDepth, kNext = kDepth<T>;
  const int steps = Copies::steps(p);
  CpAsyncPipeline<Stages> pipeline;
  Copies copies(p);
#pragma unroll 1
  for (int i = 0; i < Stages - 1; ++i) {
    copies.template copy<1>(smem, pipeline.acquire(), 0);
    pipeline.commit();
    copies.advance();
  }
  u32 slot = pipeline.wait();
  Operands<T, M, N, U> operands[2];
  operands[0].load(smem.a[slot], row, smem.b[slot], column, 0);
#pragma unroll 1
  for (const int index : p.tiles) {
    RegisterTile<layout::Mma<M, N>, typename Unit<T>::Sum> acc = {};
    // Loop invariant: operands[0] holds the first product along K; while one is multiplied, the operands of the next
    // are being loaded, also across slots and tiles.
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
#pragma unroll
      for (int k = 0; k < kStep; k += kNext) {
        if (k + kNext == kStep) {
          pipeline.commit();
          copies.advance();
          slot = pipeline.wait();
        }
        operands[(k / kNext + 1) % 2].load(smem.a[slot], row, smem.b[slot], column, (k + kNext) % kStep);
        if (k + kNext < kStep) copies.template copy<kStep / kNext - 1>(smem, pipeline.acquire(), k / kNext);
        operands[k / kNext % 2].template multiply<Terms>(acc);
      }
    }
    store(p.tiles[index], acc);
  }
}

}  // namespace mma
