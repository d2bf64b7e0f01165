#pragma once
// A tile in shared memory that a block transposes in place, for loads and stores by TMA with swizzle 128.
#include "device/tile/register_square.cuh"
#include "device/tile/shared_tile.cuh"

template <class T, int Rows, int Columns> union TransposedTile {
  SharedTile<T, Rows, Columns, 128> in;
  SharedTile<T, Columns, Rows, 128> out;
};

// Called by all of the block's Threads threads, each of which keeps its squares in registers meanwhile.
template <int Threads, class T, int Rows, int Columns>
__device__ inline void transpose(TransposedTile<T, Rows, Columns>& tile) {
  constexpr int kSide = RegisterSquare<T>::kSide, kPanels = Columns * sizeof(T) / 128;
  constexpr int kSquares = Rows * Columns / (kSide * kSide) / Threads;  // of a thread
  RegisterSquare<T> squares[kSquares];
#pragma unroll
  for (int s = 0; s < kSquares; ++s) {
    const SquarePosition p = diagonal_square<kPanels>(s * Threads + threadIdx.x);
#pragma unroll
    for (int k = 0; k < kSide; ++k)
      squares[s].set(k, tile.in.template at<const uint4>(p.down * kSide + k, p.across * kSide));
  }
  __syncthreads();  // every thread has read its squares
#pragma unroll
  for (int s = 0; s < kSquares; ++s) {
    const SquarePosition p = diagonal_square<kPanels>(s * Threads + threadIdx.x);
    const RegisterSquare<T> square = squares[s].transposed();
#pragma unroll
    for (int k = 0; k < kSide; ++k) tile.out.template at<uint4>(p.across * kSide + k, p.down * kSide) = square[k];
  }
}
