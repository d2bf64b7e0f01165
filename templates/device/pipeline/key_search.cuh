#pragma once
// The search of attention's backward pass for the steps of queries that a mask leaves of each tile of keys. If it is
// the same for all heads and reads operands, it is done once for all of them, by the whole grid before the tiles.
#include "device/pipeline/gradient_steps.cuh"
#include "device/pipeline/step_table.cuh"

#ifndef TMA_JIT_REFERENCE

// `counters` are three words, 0 before and after each launch; `bits` has room for the StepTable of a head's tiles.
template <class Work> class KeySearch {
 public:
  __device__ KeySearch(const Dims& dims, const Hooks& hooks, u8* counters, u8* bits)
      : dims_(dims),
        own_(hooks),
        table_(bits, reinterpret_cast<u32*>(counters), ceil_div<u32>(dims.N, Work::kRows),
               ceil_div<u32>(dims.M, Work::kStep)) {}

  // Does what all heads have in common. Called by all threads of the block.
  __device__ void begin() const {
    if constexpr (kMaskFoundOnce)
      table_.make([&](int row, int part) {
        const Work work(dims_, row, 0);
        return own_.looks(work, work.head).look(part, false);
      });
  }
  // As of OwnSearch; await once in each block, before the others.
  __device__ void await() const {
    if constexpr (kMaskFoundOnce) table_.await();
  }
  __device__ auto steps(const Work& work, int head) const {
    if constexpr (kMaskFoundOnce)
      return table_.steps(work.row());
    else
      return own_.steps(work, head);
  }
  __device__ bool sees(const Work& work, int step, int head) const {
    return kMaskFoundOnce ? table_.has(work.row(), step) : own_.sees(work, step, head);
  }
  __device__ int rank(const Work& work, const GradientStep& step) const {
    return kMaskFoundOnce ? table_.rows_with(step.index(), work.row()) : own_.rank(work, step);
  }

 private:
  const Dims& dims_;
  const OwnSearch own_;
  const StepTable table_;
};

#endif
