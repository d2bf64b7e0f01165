#pragma once
// What a mask that is the same for all heads gives over the steps of each row of tiles, found once by a whole grid
// before it attends. A mask that reads an operand at each key takes longer to search than a short tile to compute, and
// every head would search again. All warps share the search. They draw parts of it: what is not found belongs to a
// block that runs, so that waiting for all of it ends however few blocks the device runs at a time.
#include "device/pipeline/seen_steps.cuh"
#include "device/ptx/acq_rel.cuh"
#include "device/ptx/acquire.cuh"

// `bits` has rows * parts elements, the parts of 32 steps of one row after the other's. `counters` are three words, 0
// before and after each launch: parts drawn, parts found, and blocks that have seen all found.
class StepTable {
 public:
  __device__ StepTable(u8* bits, u32* counters, int rows, int steps)
      : bits_(reinterpret_cast<StepBits*>(bits)), counters_(counters), rows_(rows), parts_(ceil_div<u32>(steps, 32)) {}

  // Finds the parts that the warp draws. looks(row) are a row's StepLooks. Called by all warps of all blocks, each of
  // which draws one number beyond the last part; who draws the last of these resets the counter.
  template <class Looks> __device__ void make(Looks looks) const {
    const bool one = threadIdx.x % 32 == 0;
    const u32 count = rows_ * parts_, warps = gridDim.x * (blockDim.x / 32);
    u32 found = 0;
#pragma unroll 1
    for (;; ++found) {
      const u32 number = __shfl_sync(0xffffffff, one ? atomicAdd(&counters_[0], 1) : 0, 0);
      if (number >= count) {
        if (one && number == count + warps - 1) counters_[0] = 0;
        break;
      }
      const StepBits seen = looks(number / parts_).near(number % parts_);
      if (one) bits_[number] = seen;
    }
    if (one && found > 0) global::add_release(&counters_[1], found);
  }

  // Waits until all parts are found. Called once in each block, by the warp that reads them.
  __device__ void await() const {
    global::await(&counters_[1], rows_ * parts_);
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    fence::acq_rel_gpu();
    if (atomicInc(&counters_[2], gridDim.x - 1) != gridDim.x - 1) return;
    fence::acq_rel_gpu();  // the others have read the counter that the last block resets
    counters_[1] = 0;
  }

  // What was found of a row, for StepsOf.
  class Row {
   public:
    __device__ Row(const StepBits* bits, int parts) : bits_(bits), parts_(parts) {}

    __device__ int ranges() const { return ceil_div<u32>(parts_, 32); }
    __device__ u32 parts(int range) {
      const int part = range * 32 + threadIdx.x % 32;
      own_ = part < parts_ ? bits_[part] : StepBits{0, 0};
      return __ballot_sync(0xffffffff, own_.some != 0);
    }
    __device__ StepBits near(int part) const {
      return {__shfl_sync(0xffffffff, own_.some, part % 32), __shfl_sync(0xffffffff, own_.all, part % 32)};
    }

   private:
    const StepBits* bits_;
    int parts_;
    StepBits own_ = {0, 0};
  };
  __device__ StepsOf<Row> steps(int row) const {
    return StepsOf<Row>(Row(bits_ + s64{row} * parts_, parts_));
  }

 private:
  StepBits* bits_;
  u32* counters_;
  int rows_, parts_;
};
