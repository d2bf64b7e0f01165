#pragma once
// Adds up vectors that blocks of a grid leave in global memory, in the same order at every launch. The first blocks,
// the workers, leave one vector each; each of the others, the adders, adds up slices of all of them. An adder waits for
// the workers only if all have begun: one that waited for a block that has no room yet might wait forever. Otherwise it
// ends, and the worker that finishes last adds up what no adder does.
#include "device/ptx/acq_rel.cuh"
#include "device/reduce/grid.cuh"

// What the blocks count, 0 before and after a launch: workers that have begun and that are done, slices that are taken,
// and blocks that take no more.
struct GridSumCounters {
  u32 begun, done, taken, left;
};

// Of vectors of Width f32, a multiple of 4; where it is 0, all blocks are workers, and nothing is added up. `parts` has
// room for one of each worker.
template <int Threads, int Width> class GridSum {
 public:
  static constexpr int kSlice = 64;  // elements: each row of a slice is two lines of L2
  static constexpr int kAdders = ceil_div(Width, kSlice);

  __device__ GridSum(unsigned char* parts, unsigned char* counters)
      : parts_(reinterpret_cast<f32*>(parts)), counters_(*reinterpret_cast<GridSumCounters*>(counters)) {
    if (Width > 0 && is_worker() && threadIdx.x == 0) atomicAdd(&counters_.begun, 1);
  }
  __device__ static int workers() { return gridDim.x - kAdders; }
  __device__ static bool is_worker() { return static_cast<int>(blockIdx.x) < workers(); }
  // This worker's vector.
  __device__ f32* part() const { return parts_ + s64{blockIdx.x} * Width; }

  // Called once by all threads of each block, of a worker after it wrote its vector. Calls store(i, x) with 4 elements
  // of the sum, for i = 0, 4, 8, ... once in the grid.
  template <class F> __device__ void finish(F store) {
    __shared__ u32 next;
    __syncthreads();
    if (threadIdx.x == 0) next = is_worker() ? arrive() : wait();
    __syncthreads();
    if (next == kNone) return;
    while (next < kAdders) {
      add(next * kSlice, store);
      if (threadIdx.x == 0) next = atomicAdd(&counters_.taken, 1);
      __syncthreads();
    }
    if (threadIdx.x == 0) leave();
  }

 private:
  static constexpr u32 kNone = ~u32{0};
  static constexpr int kLanes = kSlice / 4, kRows = Threads / kLanes;  // vectors that the block reads at a time

  // Counts a worker that is done. Returns the slice that it adds up, if it is the last, or kNone.
  __device__ u32 arrive() {
    fence::acq_rel_gpu();
    if (static_cast<int>(atomicAdd(&counters_.done, 1)) + 1 != workers()) return kNone;
    fence::acq_rel_gpu();
    return atomicAdd(&counters_.taken, 1);
  }
  // Returns the slice that an adder adds up, or one that does not exist.
  __device__ u32 wait() {
    if (static_cast<int>(atomicAdd(&counters_.begun, 0)) != workers()) return kAdders;
    while (static_cast<int>(atomicAdd(&counters_.done, 0)) != workers()) __nanosleep(100);
    fence::acq_rel_gpu();
    return atomicAdd(&counters_.taken, 1);
  }
  // Clears the counters in the last of the adders and of the last worker.
  __device__ void leave() {
    fence::acq_rel_gpu();
    if (atomicAdd(&counters_.left, 1) != kAdders) return;
    fence::acq_rel_gpu();
    counters_ = {};
  }
  // Adds up elements `first` to first + kSlice of all vectors: each row of threads some of them, then the first row
  // all.
  template <class F> __device__ void add(int first, F store) const {
    __shared__ float4 sums[kRows][kLanes];
    const int lane = threadIdx.x % kLanes, row = threadIdx.x / kLanes, i = first + lane * 4;
    float4 sum = {};
    if (i < Width) {
#pragma unroll 8
      for (int part = row; part < workers(); part += kRows)
        sum = plus(sum, *reinterpret_cast<const float4*>(parts_ + s64{part} * Width + i));
    }
    sums[row][lane] = sum;
    __syncthreads();
    if (row > 0 || i >= Width) return;
    for (int other = 1; other < kRows; ++other) sum = plus(sum, sums[other][lane]);
    store(i, {sum.x, sum.y, sum.z, sum.w});
  }
  __device__ static float4 plus(const float4& a, const float4& b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }

  f32* const parts_;
  GridSumCounters& counters_;
};
