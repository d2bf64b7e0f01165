#pragma once
// Adds up vectors that blocks of a grid leave in global memory, in the same order at every launch. The first blocks,
// the workers, leave one vector each; each of the others, the adders, adds up slices of all of them. An adder waits for
// the workers only if all have begun: one that waited for a block that has no room yet might wait forever. Otherwise it
// ends, and the worker that finishes last adds up what no adder does.
#include "device/ptx/acq_rel.cuh"
#include "device/ptx/relaxed.cuh"
#include "device/reduce/grid.cuh"
#include "device/tile/plus.cuh"

// What the blocks count, 0 before and after a launch: workers that have begun and that are done; `drawn` counts numbers
// of slices that were drawn, one beyond the last by each block that draws, and above kGivenUp adders that did not wait.
struct GridSumCounters {
  u32 begun, done, drawn;
  static constexpr u32 kGivenUp = 0x10000;
};

// Of vectors of Width f32, a multiple of 4; where it is 0, all blocks are workers, and nothing is added up. Team
// workers leave a vector together. `parts` has room for one of each team.
template <int Threads, int Width, int Team = 1> class GridSum {
 public:
  static constexpr int kSlice = 64;  // elements: each row of a slice is two lines of L2
  static constexpr u32 kAdders = ceil_div(Width, kSlice);
  static_assert(2 * kAdders + 1 < GridSumCounters::kGivenUp);

  __device__ GridSum(unsigned char* parts, unsigned char* counters)
      : parts_(reinterpret_cast<f32*>(parts)), counters_(*reinterpret_cast<GridSumCounters*>(counters)) {
    if (Width > 0 && is_worker() && threadIdx.x == 0) atomicAdd(&counters_.begun, 1);
  }
  __device__ static int workers() { return static_cast<int>(gridDim.x - kAdders); }
  __device__ static bool is_worker() { return static_cast<int>(blockIdx.x) < workers(); }
  // This worker's vector, or its team's.
  __device__ f32* part() const { return parts_ + s64{blockIdx.x / Team} * Width; }

  // Called once by all threads of each block, of a worker after it wrote its vector. Calls store(i, x) with 4 elements
  // of the sum, for i = 0, 4, 8, ... once in the grid.
  template <class F> __device__ void finish(F store) {
    __shared__ u32 next;
    __syncthreads();
    if (threadIdx.x == 0) next = is_worker() ? arrive() : wait();
    __syncthreads();
#pragma unroll 1
    while (next < kAdders) {
      // The next number is on its way while a slice is added up.
      const u32 slice = next, drawn = threadIdx.x == 0 ? atomicAdd(&counters_.drawn, 1) : 0;
      add(slice * kSlice, store);
      if (threadIdx.x == 0) next = slice_of(drawn, 1);
      __syncthreads();
    }
  }

 private:
  static constexpr u32 kNone = ~u32{0};
  static constexpr int kLooks = 16;  // of an adder for the workers' begin: some microseconds
  static constexpr int kLanes = kSlice / 4, kRows = Threads / kLanes;  // vectors that the block reads at a time

  // Counts a worker that is done. Returns the slice that it adds up, if it is the last, or kNone.
  __device__ u32 arrive() {
    fence::acq_rel_gpu();
    if (static_cast<int>(atomicAdd(&counters_.done, 1)) + 1 != workers()) return kNone;
    fence::acq_rel_gpu();
    return slice_of(atomicAdd(&counters_.drawn, 1), 1);
  }
  // Returns the slice that an adder adds up, or kNone. Where adders begin with the workers, some look before all
  // workers have counted themselves, and look again for a while.
  __device__ u32 wait() {
    for (int looks = 0; static_cast<int>(relaxed::load(&counters_.begun)) != workers(); ++looks) {
      if (looks == kLooks) {
        constexpr u32 kGivenUp = GridSumCounters::kGivenUp;
        fence::acq_rel_gpu();
        return slice_of(atomicAdd(&counters_.drawn, kGivenUp), kGivenUp);
      }
      __nanosleep(20);
    }
    fence::acq_rel_gpu();  // what was read comes before the counters are cleared
    const u32 slice = slice_of(atomicAdd(&counters_.drawn, 1), 1);  // on its way while the workers work
    if (slice == kNone) return kNone;
    // The counters stay until this block has drawn again.
    while (static_cast<int>(relaxed::load(&counters_.done)) != workers()) __nanosleep(20);
    fence::acq_rel_gpu();
    return slice;
  }
  // The slice of what `drawn` was before `added` was added to it; kNone if there is none. The adders and the last
  // worker end with none: the last of them to do so clears the counters, which no other accesses any more.
  __device__ u32 slice_of(u32 drawn, u32 added) {
    constexpr u32 kGivenUp = GridSumCounters::kGivenUp;
    if (added == 1 && drawn % kGivenUp < kAdders) return drawn % kGivenUp;
    const u32 now = drawn + added, numbers = now % kGivenUp;
    if (numbers > kAdders && numbers - kAdders + now / kGivenUp == kAdders + 1) {
      fence::acq_rel_gpu();
      counters_ = {};
    }
    return kNone;
  }
  // Adds up elements `first` to first + kSlice of all vectors: each row of threads some of them, then the first row
  // all.
  template <class F> __device__ void add(int first, F store) const {
    __shared__ float4 sums[kRows][kLanes];
    const int lane = threadIdx.x % kLanes, row = threadIdx.x / kLanes, i = first + lane * 4;
    float4 sum = {};
    if (i < Width) {
#pragma unroll 8
      for (int part = row; part < workers() / Team; part += kRows)
        sum = plus(sum, *reinterpret_cast<const float4*>(parts_ + s64{part} * Width + i));
    }
    sums[row][lane] = sum;
    __syncthreads();
    if (row > 0 || i >= Width) return;
    for (int other = 1; other < kRows; ++other) sum = plus(sum, sums[other][lane]);
    store(i, {sum.x, sum.y, sum.z, sum.w});
  }

  f32* const parts_;
  GridSumCounters& counters_;
};
