#pragma once
// Matrices of a batch.
#include "device/types.cuh"

// Returns the index-th matrix of a batch of `count`; if it has only one, that.
template <class T> __device__ inline View<T, 2> matrix_of(const View<T, 3>& batch, int count, int index) {
  return {batch.data + min(index, count - 1) * batch.stride[0], {batch.stride[1], batch.stride[2]}};
}
