#pragma once
// Rows of attention's output in float64, eight of a head at a time, so that each key and value is converted once for
// eight. T, CAUSAL, HD, DV and Hooks are the template's.
#include "device/ptx/cvt.cuh"

#ifdef TMA_JIT_REFERENCE
struct HeadRows {
  static constexpr s64 kTogether = 8;
  s64 count;     // at most kTogether
  s64 position;  // of the first, among the keys
  s64 keys;      // of the sequence
  s32 head;      // as hooks count them
};

// Computes the rows from the weights of as many keys at a time as the block has threads, of which there are at least
// HD, DV and 128. query(r, d) is an element of row r, scaled; key(k) and value(k) are where the rows of key k begin,
// nullptr where they read as zeros, and their elements are key_stride and value_stride apart. Calls
// store(r, output, sum) in each thread, with the output's element of the thread's number and the sum of the weights.
template <class Query, class Key, class Value, class Store>
__device__ inline void attend_rows(const HeadRows& rows, f64 sink, const Hooks& hooks, Query query, Key key,
                                   s64 key_stride, Value value, s64 value_stride, Store store) {
  constexpr int kLongest = HD > DV ? HD : DV, kThreads = kLongest > 128 ? kLongest : 128, kRows = HeadRows::kTogether;
  __shared__ f64 weight[kThreads][kRows], element[HD][kRows], sums[kRows];
  const int d = threadIdx.x;
  for (int r = 0; d < HD && r < kRows; ++r) element[d][r] = r < rows.count ? query(r, d) : 0;
  __syncthreads();
  const s64 keys = CAUSAL ? max(s64{0}, min(rows.keys, rows.position + rows.count)) : rows.keys;
  f64 sum = exp(sink), made[kRows] = {};  // `sum` is that of the row of the thread's number
  for (s64 first = 0; first < keys; first += kThreads) {
    const s64 k = first + threadIdx.x, count = min(s64{kThreads}, keys - first);
    f64 score[kRows] = {};
    const T* at = k < keys ? key(k) : nullptr;
    for (int e = 0; at != nullptr && e < HD; ++e, at += key_stride) {
      const f64 x = to_f64(*at);
      for (int r = 0; r < kRows; ++r) score[r] += element[e][r] * x;
    }
    for (int r = 0; r < kRows; ++r) {
      const s64 q = rows.position + r;
      const bool sees = r < rows.count && k < keys && (!CAUSAL || k <= q) && hooks.mask(q, k, rows.head) != 0;
      weight[threadIdx.x][r] = sees ? exp(hooks.score(score[r], q, k, rows.head)) : 0;
    }
    __syncthreads();
    for (int j = 0; d < DV && j < count; ++j) {
      const T* row = value(first + j);
      const f64 x = row != nullptr ? to_f64(row[d * value_stride]) : 0;
      for (int r = 0; r < kRows; ++r)
        if (!CAUSAL || first + j <= rows.position + r) made[r] += weight[j][r] * x;
    }
    for (int j = 0; d < kRows && j < count; ++j) sum += weight[j][d];
    __syncthreads();
  }
  if (d < kRows) sums[d] = sum;
  __syncthreads();
  for (int r = 0; r < kRows; ++r)
    if (r < rows.count) store(r, sums[r] == 0 ? 0 : made[r] / sums[r], sums[r]);
  __syncthreads();  // before the next rows take their place
}
#endif
