#pragma once
// The float64 reference of the attention_decode_latent kernels, written independently of them. T, KD, HD, LSE and Dims
// are the template's.
#include "device/ptx/cvt.cuh"

#ifdef TMA_JIT_REFERENCE
// A block of HD threads computes one head of one token at a time, from the weights of HD keys at a time.
// length(sequence) is the number of keys of a sequence. Rows of pages that do not exist read as zeros.
template <class Length>
__device__ inline void reference_attention_latent(const View<const T, 4>& Q, const View<const T, 3>& C,
                                                  const View<const s32, 2>& PAGES, const View<f64, 4>& O,
                                                  const View<f64, 3>& L, f64 scale, const Dims& dims, Length length) {
  __shared__ f64 weight[HD], query[KD];
  const auto offset = [&](s64 sequence, s64 key) {
    const s64 page = PAGES.data[sequence * PAGES.stride[0] + key / dims.SIZE * PAGES.stride[1]];
    return page >= 0 && page < dims.P ? page * C.stride[0] + key % dims.SIZE * C.stride[1] : -1;
  };
  const int d = threadIdx.x;  // the element that this thread computes
  for (s64 i = blockIdx.x; i < s64{dims.B} * dims.TOKENS * dims.HEADS; i += gridDim.x) {
    const s64 head = i % dims.HEADS, token = i / dims.HEADS % dims.TOKENS, sequence = i / dims.HEADS / dims.TOKENS;
    const s64 keys = length(sequence) - (dims.TOKENS - 1 - token);
    for (int e = d; e < KD; e += HD)
      query[e] = to_f64(Q.data[sequence * Q.stride[0] + token * Q.stride[1] + head * Q.stride[2] + e * Q.stride[3]]);
    __syncthreads();
    f64 sum = 0, made = 0;
    for (s64 first = 0; first < keys; first += HD) {
      f64 score = 0;
      const s64 at = first + d < keys ? offset(sequence, first + d) : -1;
      for (int e = 0; at >= 0 && e < KD; ++e) score += query[e] * to_f64(C.data[at + e * C.stride[2]]);
      weight[d] = first + d < keys ? exp(score * scale) : 0;
      __syncthreads();
      for (s64 key = first; key < min(keys, first + HD); ++key) {
        sum += weight[key - first];
        const s64 row = offset(sequence, key);
        if (row >= 0) made += weight[key - first] * to_f64(C.data[row + d * C.stride[2]]);
      }
      __syncthreads();
    }
    O.data[sequence * O.stride[0] + token * O.stride[1] + head * O.stride[2] + d * O.stride[3]] =
        sum == 0 ? 0 : made / sum;
    if (LSE == 1 && d == 0) L.data[sequence * L.stride[0] + token * L.stride[1] + head * L.stride[2]] = log(sum);
    __syncthreads();
  }
}
#endif
