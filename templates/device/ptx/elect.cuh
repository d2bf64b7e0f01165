#pragma once
// Election of one lane of a warp. PTX ISA 9.0, "elect.sync".
#include "device/types.cuh"

// Returns true in exactly one of the lanes in `lanes`, all of which must call it together. Unlike a comparison with the
// lane's index it tells the compiler that only one lane continues, so that it generates no loop over the warp's lanes.
__device__ inline bool elect(u32 lanes = 0xffffffff) {
  u32 elected;
  asm volatile("{\n .reg .pred one;\n elect.sync _|one, %1;\n selp.u32 %0, 1, 0, one;\n}" : "=r"(elected) : "r"(lanes));
  return elected != 0;
}
