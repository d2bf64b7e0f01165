#pragma once
// The queries of a block of attention_decode_latent. T, KD, ROWS and WARPS are the template's.
#include "device/ptx/bulk_prefetch.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/l2.cuh"
#include "device/tile/shared_tile.cuh"

#ifndef TMA_JIT_REFERENCE

// Brings to L2 the queries and the first page number that the block needs if all sequences have as many keys, before it
// knows how many they have. Called by at least 2 * ROWS threads.
__device__ inline void prefetch_queries(const View<const T, 4>& Q, const View<const s32, 2>& PAGES, const Dims& dims) {
  const u32 row = blockIdx.x * ROWS + threadIdx.x, heads = dims.HEADS;
  const s64 sequence = blockIdx.y;
  if (sequence >= dims.B) return;
  if (threadIdx.x < ROWS && row < dims.TOKENS * heads)
    bulk::prefetch(Q.data + sequence * Q.stride[0] + row / heads * Q.stride[1] + row % heads * Q.stride[2],
                   KD * sizeof(T));
  const s64 page = s64{dims.MAX_PAGES} * blockIdx.z / gridDim.z;
  if (threadIdx.x == ROWS && page < dims.MAX_PAGES)
    l2::prefetch(PAGES.data + sequence * PAGES.stride[0] + page * PAGES.stride[1]);
}

// Copies the queries of the block's rows; rows beyond them become zeros. Called by Threads threads, and followed by a
// barrier of them.
template <int Threads, class Work>
__device__ inline void copy_queries(SharedTile<T, ROWS, KD>& to, const View<const T, 4>& Q, const Work& work) {
  constexpr int kAcross = 8, kDown = Threads / kAcross;  // lanes that share a row, and rows that are copied at once
  static_assert(KD % (8 * kAcross) == 0 && ROWS % kDown == 0);
  const int first = threadIdx.x % kAcross * 8;
#pragma unroll
  for (int i = 0; i < ROWS; i += kDown) {
    const int row = i + threadIdx.x / kAcross;
    const T* const from =
        Q.data + work.sequence * Q.stride[0] + work.token(row) * Q.stride[1] + work.head(row) * Q.stride[2] + first;
#pragma unroll
    for (int column = 0; column < KD; column += 8 * kAcross)
      cp_async::cg(smem_address(&to.at(row, first + column)), from + column, row < work.rows ? 16 : 0);
  }
  cp_async::wait_all();
}

#endif
