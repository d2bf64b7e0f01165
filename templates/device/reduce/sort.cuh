#pragma once
// Sorts keys in shared memory by a block: Batcher's bitonic network, K. Batcher, "Sorting networks and their
// applications", AFIPS 1968.
#include "device/types.cuh"

// Sorts `size` keys in ascending order, called by all Threads threads after a barrier of theirs; there is room for the
// next power of two. The keys are sorted for all threads when it returns.
template <int Threads> __device__ inline void block_sort(u64* keys, int size) {
  int room = 1;
  while (room < size) room *= 2;
  for (int i = size + threadIdx.x; i < room; i += Threads) keys[i] = ~u64{0};
  __syncthreads();
  for (int length = 2; length <= room; length *= 2) {
    for (int distance = length / 2; distance > 0; distance /= 2) {
      for (int pair = threadIdx.x; pair < room / 2; pair += Threads) {
        const int low = 2 * pair - (pair & (distance - 1));
        const u64 a = keys[low], b = keys[low + distance];
        if ((a > b) != ((low & length) != 0)) keys[low] = b, keys[low + distance] = a;
      }
      __syncthreads();
    }
  }
}

// The number of keys, which are sorted, below `key`.
__device__ inline int lower_bound(const u64* keys, int size, u64 key) {
  int first = 0;
  while (size > 0) {
    const int half = size / 2;
    const bool below = keys[first + half] < key;
    first = below ? first + half + 1 : first;
    size = below ? size - half - 1 : half;
  }
  return first;
}
