#pragma once
// Lets a running block take over the work of a block that has not begun: the launch of a waiting cluster is cancelled
// and its index returned. sm_100 and newer. PTX ISA 9.0, "clusterlaunchcontrol.try_cancel",
// "clusterlaunchcontrol.query_cancel".
#include "device/ptx/mbarrier.cuh"

namespace launch_control {

struct alignas(16) Response {
  u64 words[2];
};

// Requests a cluster. The 16 bytes of the answer are written to `response` in shared memory and counted on `full`; with
// Blocks > 1 to the same offsets in every block of this cluster. Must not be called again after an answer that
// cancelled nothing.
template <int Blocks = 1> __device__ inline void try_cancel(Response& response, Barrier& full) {
  if constexpr (Blocks == 1)
    asm volatile(
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(
            smem_address(&response)),
        "r"(smem_address(&full))
        : "memory");
  else
    asm volatile(
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
        "[%0], "
        "[%1];" ::"r"(smem_address(&response)),
        "r"(smem_address(&full))
        : "memory");
}

// Returns the x index of the cancelled cluster's first block, or -1 if nothing was left to cancel.
__device__ inline int first_block(const Response& response) {
  int block;
  asm volatile(
      "{\n .reg .b128 answer;\n .reg .pred cancelled;\n ld.shared.b128 answer, [%1];\n mov.b32 %0, -1;\n"
      " clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 cancelled, answer;\n"
      " @cancelled clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, answer;\n}"
      : "=r"(block)
      : "r"(smem_address(&response))
      : "memory");
  return block;
}

}  // namespace launch_control
