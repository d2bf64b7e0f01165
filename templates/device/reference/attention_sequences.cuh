#pragma once
// The float64 reference of attention over sequences of different lengths. T, CAUSAL, LSE, SINKS, HD, DV and Dims are
// the template's.
#include "device/ptx/cvt.cuh"
#include "device/reference/attention_rows.cuh"
#include "device/tile/head_numbers.cuh"
#include "device/tile/sequence_rows.cuh"

#ifdef TMA_JIT_REFERENCE
// row_of(tensor, sequence, key, head) is where a key or value is, nullptr where it reads as zeros. Rows of no sequence
// are left as they are.
template <class Tensor, class Sequences, class Row>
__device__ inline void reference_attention_of_sequences(const View<const T, 3>& Q, const Tensor& K, const Tensor& V,
                                                        const Sequences& sequences, Row row_of,
                                                        const HeadNumbers& numbers, const View<f64, 3>& O,
                                                        const View<f64, 2>& L, f32 scale, const Dims& dims,
                                                        const Hooks& hooks) {
  constexpr int kElement = sizeof(K.stride) / sizeof(s64) - 1;
  const s64 groups = ceil_div(s64{dims.LONGEST}, HeadRows::kTogether);
  for (s64 i = blockIdx.x; i < s64{dims.BATCH} * dims.HEADS * groups; i += gridDim.x) {
    const s64 row = i % groups * HeadRows::kTogether, b = i / groups / dims.HEADS, own = i / groups % dims.HEADS;
    const s32 head = i / groups;
    const SequenceRows queries = sequences.queries(b), all = sequences.keys(b);
    if (row >= queries.count) continue;
    const s64 first = queries.first + row, kv_head = own / (dims.HEADS / dims.KV_HEADS);
    const HeadRows rows = {min(HeadRows::kTogether, queries.count - row), row + all.count - queries.count, all.count,
                           head};
    const auto query = [&](int r, int d) {
      return to_f64(Q.data[(first + r) * Q.stride[0] + own * Q.stride[1] + d * Q.stride[2]]) * scale;
    };
    attend_rows(
        rows, numbers.sink(head), hooks, query, [&](s64 k) { return row_of(K, b, k, kv_head); }, K.stride[kElement],
        [&](s64 k) { return row_of(V, b, k, kv_head); }, V.stride[kElement],
        [&](int r, f64 output, f64 sum) {
          const s64 at = first + r;
          const int d = threadIdx.x;
          if (d < DV) O.data[at * O.stride[0] + own * O.stride[1] + d * O.stride[2]] = output;
          if (LSE && d == 0) L.data[own * L.stride[0] + at * L.stride[1]] = log(sum);
        });
  }
}
#endif
