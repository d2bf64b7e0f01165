#pragma once
// The queries of a block of attention_decode_latent as f16, whatever their type. T, KD and ROWS are the template's.
#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/ptx/ld.cuh"
#include "device/tile/pack.cuh"
#include "device/tile/shared_tile.cuh"

#ifndef TMA_JIT_REFERENCE

// Returns the power of two that brings a number between 2^14 and 2^15, within what f32 has; 1 for 0 and what is not
// finite.
__device__ inline f32 halving_factor(f32 greatest) {
  if (greatest == 0 || !(greatest < infinity())) return 1;
  const u32 exponent = __float_as_uint(greatest) >> 23;
  return __uint_as_float(min(268 - exponent, 253u) << 23);
}

// Returns the column of the first factor's 64 in which a lane's element is: a lane has 16 neighbouring elements of a
// row, four for each of four instructions, where they are two pairs 8 columns apart.
__device__ constexpr int place_of(int element) {
  const int lane = element / 16, k = element % 16 / 4, i = element % 4;
  return k * 16 + i / 2 * 8 + lane * 2 + i % 2;
}

// Loads the queries of the block's rows, each row times the power of two with which its greatest is far from both ends
// of f16, so that numbers of bf16 are exact unless they are less than 2^-28 of it. `unit` gets the inverses. Of each 64
// columns, column c is at place_of(c). Rows beyond become zeros. Called by Threads threads, and followed by a barrier
// of them.
template <int Threads, class Work>
__device__ inline void halve_queries(SharedTile<f16, ROWS, KD>& to, f32 (&unit)[ROWS], const View<const T, 4>& Q,
                                     const Work& work) {
  constexpr int kAcross = 8, kParts = KD / 8 / kAcross;  // lanes of a row, and parts of 8 numbers of each
  static_assert(KD % (8 * kAcross) == 0 && ROWS % (Threads / kAcross) == 0);
  const int column = threadIdx.x % kAcross * 8;
#pragma unroll 1
  for (int row = threadIdx.x / kAcross; row < ROWS; row += Threads / kAcross) {
    const T* const from =
        Q.data + work.sequence * Q.stride[0] + work.token(row) * Q.stride[1] + work.head(row) * Q.stride[2] + column;
    Pack<T, 8> parts[kParts];
#pragma unroll
    for (int i = 0; i < kParts; ++i)
      reinterpret_cast<uint4&>(parts[i]) = global::load_16_if(row < work.rows, from + i * 8 * kAcross);
    f32 greatest = 0;
#pragma unroll
    for (int i = 0; i < kParts * 8; ++i) greatest = fmaxf(greatest, fabsf(to_f32(parts[i / 8].x[i % 8])));
#pragma unroll
    for (int distance = 1; distance < kAcross; distance *= 2)
      greatest = fmaxf(greatest, __shfl_xor_sync(0xffffffff, greatest, distance));
    const f32 factor = halving_factor(greatest);
    const auto at = [&](int i, int j) { return to_f32(parts[i].x[j]) * factor; };
#pragma unroll
    for (int i = 0; i < kParts; ++i)
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        const int place = (column + i * 8 * kAcross) / 64 * 64 + place_of((column + j) % 64);
        to.template at<u32>(row, place) = pack<f16>(at(i, j), at(i, j + 1));
      }
    if (threadIdx.x % kAcross == 0) unit[row] = 1 / factor;
  }
}

#endif
