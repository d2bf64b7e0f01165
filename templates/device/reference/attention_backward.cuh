#pragma once
// The float64 reference of all attention_backward files. T, CAUSAL, HD and Dims are the template's.
#include "device/ptx/cvt.cuh"

#ifdef TMA_JIT_REFERENCE

// Returns, in the thread of each element d of a head, the sum of weigh(i) * row(i, d) for i in begin..end - 1. Called
// by all of a block's 128 threads.
template <class Weigh, class Row> __device__ inline f64 weighted_sum(s64 begin, s64 end, Weigh weigh, Row row) {
  __shared__ f64 weight[128];
  f64 sum = 0;
  for (s64 first = begin; first < end; first += 128) {
    weight[threadIdx.x] = first + threadIdx.x < end ? weigh(first + threadIdx.x) : 0;
    __syncthreads();
    for (int j = 0; j < 128 && first + j < end && threadIdx.x < HD; ++j) sum += weight[j] * row(first + j, threadIdx.x);
    __syncthreads();
  }
  return sum;
}

template <class E> __device__ inline E& element(const View<E, 3>& of, s64 head, s64 row, s64 d) {
  return of.data[head * of.stride[0] + row * of.stride[1] + d * of.stride[2]];
}

__device__ inline f64 dot(const View<const T, 3>& a, s64 a_head, s64 i, const View<const T, 3>& b, s64 b_head, s64 j) {
  f64 sum = 0;
  for (int d = 0; d < HD; ++d) sum += to_f64(element(a, a_head, i, d)) * to_f64(element(b, b_head, j, d));
  return sum;
}

// A block of 128 threads computes one row of a gradient at a time: those of the queries, then those of the keys and
// values.
extern "C" __global__ void attention_backward_reference(View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V,
                                                        View<const T, 3> DO, View<const f32, 2> L,
                                                        View<const f32, 2> DELTA, View<f64, 3> DQ, View<f64, 3> DK,
                                                        View<f64, 3> DV, f32 scale, const Dims dims) {
  const s64 sharing = dims.HEADS / dims.KV_HEADS, shift = s64{dims.N} - dims.M;
  const auto weight = [&](s64 head, s64 i, s64 j) {
    return exp(scale * dot(Q, head, i, K, head / sharing, j) - L.data[head * L.stride[0] + i * L.stride[1]]);
  };
  const auto gradient = [&](s64 head, s64 i, s64 j) {  // of the score
    const f64 delta = DELTA.data[head * DELTA.stride[0] + i * DELTA.stride[1]];
    return weight(head, i, j) * (dot(DO, head, i, V, head / sharing, j) - delta);
  };
  const int d = threadIdx.x;
  for (s64 r = blockIdx.x; r < s64{dims.HEADS} * dims.M; r += gridDim.x) {
    const s64 i = r % dims.M, head = r / dims.M;
    const s64 keys = CAUSAL ? max(s64{0}, min(s64{dims.N}, i + 1 + shift)) : dims.N;
    const f64 dq = weighted_sum(
        0, keys, [&](s64 j) { return gradient(head, i, j); },
        [&](s64 j, int e) { return to_f64(element(K, head / sharing, j, e)); });
    if (d < HD) element(DQ, head, i, d) = scale * dq;
  }
  for (s64 r = blockIdx.x; r < s64{dims.KV_HEADS} * dims.N; r += gridDim.x) {
    const s64 j = r % dims.N, kv_head = r / dims.N, first = CAUSAL ? max(s64{0}, j - shift) : 0;
    f64 dk = 0, dv = 0;
    for (s64 head = kv_head * sharing; head < (kv_head + 1) * sharing; ++head) {
      dk += weighted_sum(
          first, dims.M, [&](s64 i) { return gradient(head, i, j); },
          [&](s64 i, int e) { return to_f64(element(Q, head, i, e)); });
      dv += weighted_sum(
          first, dims.M, [&](s64 i) { return weight(head, i, j); },
          [&](s64 i, int e) { return to_f64(element(DO, head, i, e)); });
    }
    if (d < HD) element(DK, kv_head, j, d) = scale * dk, element(DV, kv_head, j, d) = dv;
  }
}
#endif
