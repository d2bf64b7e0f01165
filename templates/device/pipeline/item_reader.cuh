#pragma once
// How the warps of a block of attention's backward pass learn of the items that its producer draws.
#include "device/ptx/uniform.cuh"
#include "device/tile/gradient_item.cuh"

// The items that the producer draws, as a warp reads them, one after the other.
//   for (ItemReader items(smem); items.more(); items.next()) { ... items->tile ... }
template <class Smem> class ItemReader {
 public:
  __device__ explicit ItemReader(Smem& smem) : smem_(smem) { wait(); }

  __device__ bool more() const { return !has(kEnd); }
  __device__ bool has(ItemFlag flag) const { return uniform(smem_.drawn[index() % 2].flags) & flag; }
  // The compiler takes it as new, and keeps nothing that follows from it.
  __device__ u32 index() const {
    u32 count = count_;
    asm volatile("" : "+r"(count));
    return count;
  }
  __device__ const auto* operator->() const { return &smem_.drawn[index() % 2]; }
  __device__ void next() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.items.empty[index() % 2].arrive();
    ++count_;
    wait();
  }

 private:
  __device__ void wait() { smem_.items.full[count_ % 2].wait(count_ / 2 % 2); }

  Smem& smem_;
  u32 count_ = 0;  // of the items before the current one
};
