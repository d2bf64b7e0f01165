#pragma once
// A block's dynamic shared memory.
#include "device/types.cuh"

// Returns it as the struct that a kernel keeps in it. It starts at a multiple of 1024 bytes, the period of the widest
// swizzle.
template <class Smem> __device__ inline Smem& shared_memory() {
  extern __shared__ __align__(1024) u8 raw[];
  return *reinterpret_cast<Smem*>(raw);
}

// Fills an object, whose size is a multiple of 16 bytes, with zeros. Called by Threads threads and followed by a
// barrier.
template <int Threads, class T> __device__ inline void clear(T& object) {
  auto* const words = reinterpret_cast<uint4*>(&object);
#pragma unroll 1
  for (u32 i = threadIdx.x; i < sizeof(T) / 16; i += Threads) words[i] = {};
}

// Fills the rows of a shared tile of 16-bit floats from `row` on with zeros. Called by Threads threads, of which this
// one is the `thread`-th, and followed by a barrier of them.
template <int Threads, class Tile> __device__ inline void clear_rows(Tile& tile, int row, int thread) {
  constexpr int kAcross = Tile::kColumns / 8;
#pragma unroll 1
  for (int i = row * kAcross + thread; i < Tile::kRows * kAcross; i += Threads)
    tile.template at<uint4>(i / kAcross, i % kAcross * 8) = {};
}

// Changes the signs of an object of floats E of 8 or 16 bits. Called by Threads threads, of which this one is the
// `thread`-th, and followed by a barrier of them.
template <class E, int Threads, class T> __device__ inline void negate(T& object, int thread) {
  auto* const words = reinterpret_cast<u32*>(&object);
#pragma unroll 1
  for (u32 i = thread; i < sizeof(T) / 4; i += Threads) words[i] ^= sizeof(E) == 1 ? 0x80808080 : 0x80008000;
}
