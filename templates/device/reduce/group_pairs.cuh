#pragma once
// The sums of channels that the gradients of a norm's weights and biases are made of, which blocks leave in global
// memory and the last of them adds up: for each channel of a part of a group a pair, as group_gradient.cuh describes.
#include "device/reduce/grid.cuh"
#include "device/reduce/group_gradient.cuh"

// The pairs of channels in global memory: of each batch those of each group and, of that, of `parts` parts of `each`
// elements from its first pack on; a batch stands for several whose pairs have been added up.
struct GroupPairs {
  float2* data;
  int groups, channels, parts, each;

  __device__ float2* of(int batch, int g) const { return data + (s64{batch} * groups + g) * (channels + parts - 1); }

  // Adds up those of each channel of group g, always in the same order; skip(batch) elements of its first pack lie
  // before the group. Calls store(c, sum) once for each. Called by all Threads threads of a block; `memory` has room
  // for a pair of each.
  template <int Threads, class Skip, class Store>
  __device__ void add_batches(int batches, int g, int extent, float2* memory, Skip skip, Store store) const {
    for (int first = 0; first < channels; first += Threads) {
      const int across = min(channels - first, Threads), slices = Threads / across;
      const int c = static_cast<int>(threadIdx.x) % across, slice = static_cast<int>(threadIdx.x) / across;
      float2 sum = {};
      if (slice < slices) {
#pragma unroll 4
        for (int batch = slice; batch < batches; batch += slices) {
          const float2 more = of_channel(batch, g, first + c, extent, skip(batch));
          sum.x += more.x, sum.y += more.y;
        }
      }
      __syncthreads();
      memory[threadIdx.x] = sum;
      __syncthreads();
      if (slice > 0) continue;
      for (int other = 1; other < slices; ++other) {
        const float2 more = memory[other * across + c];
        sum.x += more.x, sum.y += more.y;
      }
      store(first + c, sum);
    }
  }

  // That of channel c of a batch's group, of channels of `extent` elements.
  __device__ float2 of_channel(int batch, int g, int c, int extent, int skip) const {
    const float2* const from = of(batch, g) + c;
    if (parts == 1) return from[0];
    float2 sum = {};
    const int begin = c * extent + skip;
    for (int part = begin / each; part <= (begin + extent - 1) / each; ++part)
      sum.x += from[part].x, sum.y += from[part].y;
    return sum;
  }
};

// Stores the gradients of a channel's weight and, if Affine is 2, of its bias.
template <int Affine, class D>
__device__ inline void store_sums(const View<D, 1>& DW, const View<D, 1>& DB, int channel, const float2& sum) {
  DW.data[channel * DW.stride[0]] = from_f32<D>(sum.y);
  if constexpr (Affine >= 2) DB.data[channel * DB.stride[0]] = from_f32<D>(sum.x);
}
