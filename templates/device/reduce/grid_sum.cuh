#pragma once
// Adds up vectors that the blocks of a grid have left in global memory, in the same order at every launch.
#include "device/reduce/grid.cuh"

// As many blocks add up their parts first; the sums of these groups are added up then.
constexpr int kGroup = 16;

// Calls store(i, x) with 4 elements of the sum of `count` vectors of `width` f32, for i = 0, 4, 8, ...
template <int Threads, class F> __device__ inline void add_parts(const f32* parts, int count, int width, F store) {
  for (int i = threadIdx.x * 4; i < width; i += Threads * 4) {
    f32 sum[4] = {};
#pragma unroll 8
    for (int part = 0; part < count; ++part) {
      const float4 x = *reinterpret_cast<const float4*>(parts + s64{part} * width + i);
      sum[0] += x.x, sum[1] += x.y, sum[2] += x.z, sum[3] += x.w;
    }
    store(i, sum);
  }
}

// Called by all threads of a block after they wrote vector blockIdx.x of `parts`, which has room for one vector a block
// and one a group; `width` is a multiple of 4, and `counters`, one and one a group, are 0 before and after a launch. In
// one block of the grid it calls store(i, x) with 4 elements of the sum of all vectors, as add_parts does.
template <int Threads, class F> __device__ inline void grid_sum(f32* parts, u32* counters, int width, F store) {
  __shared__ bool last;
  const int blocks = gridDim.x, groups = ceil_div(blocks, kGroup), group = blockIdx.x / kGroup;
  const int first = group * kGroup, count = min(kGroup, blocks - first);
  __syncthreads();
  if (threadIdx.x == 0) last = last_arriver(&counters[1 + group], count);
  __syncthreads();
  if (!last) return;
  f32* const sums = parts + s64{blocks} * width;
  add_parts<Threads>(parts + s64{first} * width, count, width, [&](int i, const f32(&x)[4]) {
    *reinterpret_cast<float4*>(sums + s64{group} * width + i) = make_float4(x[0], x[1], x[2], x[3]);
  });
  __syncthreads();
  if (threadIdx.x == 0) last = last_arriver(&counters[0], groups);
  __syncthreads();
  if (last) add_parts<Threads>(sums, groups, width, store);
}
