#pragma once
// Warpgroups, which are four warps that issue wgmma together, and the transfer of registers between them. PTX ISA 9.0,
// "setmaxnreg".
#include "device/types.cuh"

constexpr int kWarpgroup = 128;

template <int Registers> __device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers> __device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
