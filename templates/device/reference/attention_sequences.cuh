#pragma once
// The float64 reference of attention over sequences of different lengths. T, CAUSAL, LSE, SINKS, HD, DV and Dims are
// the template's.
#include "device/ptx/cvt.cuh"
#include "device/tile/head_numbers.cuh"
#include "device/tile/sequence_rows.cuh"

#ifdef TMA_JIT_REFERENCE
// A block of max(128, HD) threads computes one row of the output at a time, from the weights of as many keys at a time.
// row_of(tensor, sequence, key, head) is where a key or value is, nullptr where it reads as zeros. Rows of no sequence
// are left as they are.
template <class Tensor, class Sequences, class Row>
__device__ inline void reference_attention_of_sequences(const View<const T, 3>& Q, const Tensor& K, const Tensor& V,
                                                        const Sequences& sequences, Row row_of,
                                                        const HeadNumbers& numbers, const View<f64, 3>& O,
                                                        const View<f64, 2>& L, f32 scale, const Dims& dims,
                                                        const Hooks& hooks) {
  constexpr int kThreads = HD > 128 ? HD : 128, kElement = sizeof(K.stride) / sizeof(s64) - 1;
  __shared__ f64 weight[kThreads], query[HD];
  for (s64 i = blockIdx.x; i < s64{dims.BATCH} * dims.HEADS * dims.LONGEST; i += gridDim.x) {
    const s64 row = i % dims.LONGEST, head = i / dims.LONGEST, b = head / dims.HEADS, own = head % dims.HEADS;
    const SequenceRows queries = sequences.queries(b), all = sequences.keys(b);
    if (row >= queries.count) continue;
    const s64 shift = s64{all.count} - queries.count, kv_head = own / (dims.HEADS / dims.KV_HEADS);
    const s64 keys = CAUSAL ? max(s64{0}, min(s64{all.count}, row + 1 + shift)) : all.count;
    const int d = threadIdx.x;  // the element of the head that this thread computes
    const s64 at = queries.first + row;
    if (d < HD) query[d] = to_f64(Q.data[at * Q.stride[0] + own * Q.stride[1] + d * Q.stride[2]]) * scale;
    __syncthreads();
    f64 sum = exp(f64{numbers.sink(head)}), made = 0;
    for (s64 first = 0; first < keys; first += kThreads) {
      f64 score = 0;
      const s32 k = first + threadIdx.x, q = row + shift;
      const T* key = k < keys ? row_of(K, b, k, kv_head) : nullptr;
      for (int e = 0; key != nullptr && e < HD; ++e) score += query[e] * to_f64(key[e * K.stride[kElement]]);
      const bool sees = k < keys && hooks.mask(q, k, head) != 0;
      weight[threadIdx.x] = sees ? exp(hooks.score(score, q, k, head)) : 0;
      __syncthreads();
      for (int j = 0; d < DV && j < kThreads && first + j < keys; ++j) {
        sum += weight[j];
        const T* value = row_of(V, b, first + j, kv_head);
        if (value != nullptr) made += weight[j] * to_f64(value[d * V.stride[kElement]]);
      }
      __syncthreads();
    }
    if (d < DV) O.data[at * O.stride[0] + own * O.stride[1] + d * O.stride[2]] = sum == 0 ? 0 : made / sum;
    if (LSE && d == 0) L.data[own * L.stride[0] + at * L.stride[1]] = log(sum);
    __syncthreads();
  }
}
#endif
