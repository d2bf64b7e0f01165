#pragma once
// The second result of attention: the logarithm of each query's sum of weights, which a backward pass needs, and with
// which the results of parts of the keys can be combined.
#include "device/types.cuh"

// Stores those of a warp's rows of a tile, from `row` on, into L[head, query]. Called by all lanes of the warp, after
// softmax.inverse_sums.
template <class Softmax, class Work>
__device__ inline void store_log_sums(const View<f32, 2>& L, const Softmax& softmax, const Work& work, int row) {
  softmax.log_sums([&](int r, f32 value) {
    const int query = work.query(row + r);
    if (query < work.queries) L.data[work.head_of(row + r) * L.stride[0] + query * L.stride[1]] = value;
  });
}
