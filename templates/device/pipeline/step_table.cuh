#pragma once
// What a mask that is the same for all heads gives over the steps of each row of tiles, found once by a whole grid
// before it attends. A mask that reads an operand at each key takes longer to search than a short tile to compute, and
// every head would search again.
#include "device/pipeline/seen_steps.cuh"
#include "device/pipeline/shared_work.cuh"

// `bits` has rows * parts elements, the parts of 32 steps of one row after the other's; `counters` are of SharedWork.
class StepTable {
 public:
  __device__ StepTable(u8* bits, u32* counters, int rows, int steps)
      : bits_(reinterpret_cast<StepBits*>(bits)),
        parts_(ceil_div<u32>(steps, 32)),
        work_{counters, static_cast<u32>(rows) * parts_} {}

  // Finds the parts that the warp draws: look(row, part) returns what StepLooks finds of a part of a row. Called by all
  // warps of all blocks.
  template <class Look> __device__ void make(Look look) const {
    const bool one = threadIdx.x % 32 == 0;
    u32 found = 0;
#pragma unroll 1
    for (;; ++found) {
      const u32 number = __shfl_sync(0xffffffff, one ? work_.draw(gridDim.x * (blockDim.x / 32)) : 0, 0);
      if (number >= work_.parts) break;
      const StepBits seen = look(number / parts_, number % parts_);
      if (one) bits_[number] = seen;
    }
    if (one) work_.add_done(found);
  }
  // Waits until all parts are found. Called once in each block, by the warp that reads them.
  __device__ void await() const {
    work_.await();
  }

  // What was found of a row, for StepsOf.
  class Row {
   public:
    __device__ Row(const StepBits* bits, int parts) : bits_(bits), parts_(parts) {}

    __device__ int ranges() const { return ceil_div<u32>(parts_, 32); }
    __device__ StepBits look(int index, bool coarse) {
      if (!coarse) return {__shfl_sync(kAll, own_.some, index % 32), __shfl_sync(kAll, own_.all, index % 32)};
      const int part = index * 32 + threadIdx.x % 32;
      own_ = part < parts_ ? bits_[part] : StepBits{0, 0};
      return {__ballot_sync(kAll, own_.some != 0), 0};
    }

   private:
    static constexpr u32 kAll = 0xffffffff;

    const StepBits* bits_;
    int parts_;
    StepBits own_ = {0, 0};
  };
  __device__ StepsOf<Row> steps(int row) const {
    return StepsOf<Row>(Row(bits_ + s64{row} * parts_, parts_));
  }
  __device__ bool has(int row, int step) const {
    return (bits_[s64{row} * parts_ + step / 32].some >> (step % 32) & 1) != 0;
  }
  // Returns how many of the first rows have a step. Called by all lanes of a warp.
  __device__ int rows_with(int step, int rows) const {
    int count = 0;
#pragma unroll 4
    for (int begin = 0; begin < rows; begin += 32) {
      const int row = begin + threadIdx.x % 32;
      count += __popc(__ballot_sync(0xffffffff, row < rows && has(row, step)));
    }
    return count;
  }

 private:
  StepBits* bits_;
  int parts_;  // of a row
  SharedWork work_;
};
