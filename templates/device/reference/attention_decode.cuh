#pragma once
// The float64 reference of the attention_decode kernels, written independently of them. T, HD, LSE and Dims are the
// template's.
#include "device/ptx/cvt.cuh"

#ifdef TMA_JIT_REFERENCE
// A block computes one head of one token at a time, from the weights of 256 keys at a time. `length(sequence)` is the
// number of keys of a sequence, and `offset(tensor, sequence, key)` where the key's row is, of head 0; negative where
// there is none, which reads as zeros. score_of(x, sequence, head, query, key) is what becomes of a scaled product.
template <class Length, class Offset, class Score>
__device__ inline void reference_attention_decode(const View<const T, 4>& Q, const View<const T, 4>& K,
                                                  const View<const T, 4>& V, const View<f64, 4>& O,
                                                  const View<f64, 3>& L, f64 scale, const Dims& dims, Length length,
                                                  Offset offset, Score score_of) {
  __shared__ f64 weight[256], query[HD];
  const int d = threadIdx.x;  // the element of the head that this thread computes
  for (s64 i = blockIdx.x; i < s64{dims.B} * dims.TOKENS * dims.HEADS; i += gridDim.x) {
    const s64 head = i % dims.HEADS, token = i / dims.HEADS % dims.TOKENS, sequence = i / dims.HEADS / dims.TOKENS;
    const s64 kv_head = head / (dims.HEADS / dims.KV_HEADS), keys = length(sequence) - (dims.TOKENS - 1 - token);
    if (d < HD)
      query[d] = to_f64(Q.data[sequence * Q.stride[0] + token * Q.stride[1] + head * Q.stride[2] + d * Q.stride[3]]);
    __syncthreads();
    f64 sum = 0, made = 0;
    for (s64 first = 0; first < keys; first += 256) {
      f64 score = 0;
      const s64 at = first + d < keys ? offset(K, sequence, first + d) : -1;
      for (int e = 0; at >= 0 && e < HD; ++e)
        score += query[e] * to_f64(K.data[at + kv_head * K.stride[2] + e * K.stride[3]]);
      weight[d] = first + d < keys ? exp(score_of(score * scale, sequence, head, keys - 1, first + d)) : 0;
      __syncthreads();
      for (s64 key = first; key < min(keys, first + 256); ++key) {
        sum += weight[key - first];
        const s64 row = offset(V, sequence, key);
        if (d < HD && row >= 0)
          made += weight[key - first] * to_f64(V.data[row + kv_head * V.stride[2] + d * V.stride[3]]);
      }
      __syncthreads();
    }
    if (d < HD)
      O.data[sequence * O.stride[0] + token * O.stride[1] + head * O.stride[2] + d * O.stride[3]] =
          sum == 0 ? 0 : made / sum;
    if (LSE == 1 && d == 0) L.data[sequence * L.stride[0] + token * L.stride[1] + head * L.stride[2]] = log(sum);
    __syncthreads();
  }
}
#endif
