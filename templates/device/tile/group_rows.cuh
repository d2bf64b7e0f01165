#pragma once
// Groups of channels of a batch as the rows of a matrix.
#include "device/types.cuh"

// Row n * groups + g is group g of batch n; the rows of other batches are not where they lie. Groups of `length`
// elements lie side by side, batches at any distance.
template <class E> __device__ inline View<E, 2> groups_of(const View<E, 3>& of, int n, int groups, int length) {
  return {of.data + n * (of.stride[0] - s64{groups} * length), {length, 1}};
}
