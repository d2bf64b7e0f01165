#pragma once
// The queries of a block of attention_decode_latent. T, KD, ROWS and WARPS are the template's.
#include "device/ptx/cp_async.cuh"
#include "device/tile/shared_tile.cuh"

#ifndef TMA_JIT_REFERENCE

// Copies the queries of the block's rows; rows beyond them become zeros. Called by Threads threads, and followed by a
// barrier of them.
template <int Threads, class Work>
__device__ inline void copy_queries(SharedTile<T, ROWS, KD>& to, const View<const T, 4>& Q, const Work& work) {
  constexpr int kAcross = KD / 8;
#pragma unroll 6
  for (int i = threadIdx.x; i < ROWS * kAcross; i += Threads) {
    const int row = i / kAcross, column = i % kAcross * 8;
    const T* const from =
        Q.data + work.sequence * Q.stride[0] + work.token(row) * Q.stride[1] + work.head(row) * Q.stride[2] + column;
    cp_async::cg(smem_address(&to.at(row, column)), from, row < work.rows ? 16 : 0);
  }
  cp_async::wait_all();
}

#endif
