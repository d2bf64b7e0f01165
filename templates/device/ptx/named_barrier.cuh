#pragma once
// Barriers among a subset of a block's threads. PTX ISA 9.0, "bar".
#include "device/types.cuh"

// Waits until `threads` threads, a multiple of 32, have reached barrier `id`: 1 to 15; 0 is __syncthreads.
__device__ inline void sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
// Counts as one of them without waiting.
__device__ inline void arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
