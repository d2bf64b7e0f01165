// Arithmetic on the 32 lanes of a warp at once, as loops that the compiler vectorises. They are compiled for the
// baseline architecture and for x86-64-v3, and selected at run time.
#pragma once

#include <string_view>

#include "emulator/word.h"

namespace tma_jit::emulator {

// Computes every lane of `d` from the same lane of its sources. `d` may be one of them.
using LaneFunction = void (*)(void* d, const void* a, const void* b, const void* c);
// One bit per lane.
using CompareFunction = Mask (*)(const void* a, const void* b);

// The result of the lane function "addresses" for a base (32 u64), an offset (one u64) and the active lanes (one Mask).
struct LaneAddresses {
  u64 at[kLanes];  // base plus offset; for an inactive lane that of the first active lane
  u64 low, high;   // the least and the greatest address, as signed numbers
  u64 any;         // the bits that are set in any address
  u64 irregular;   // 0 if consecutive addresses have a constant distance
};

struct NamedLanes {
  const char* name;  // "add_u32", "fma_f16x2"
  LaneFunction function;
};
struct NamedCompare {
  const char* name;  // "lt_s32", "ltu_f32"
  CompareFunction function;
};

// Return the fastest version that the host supports; null if there is no function of that name.
LaneFunction find_lanes(std::string_view name);
CompareFunction find_compare(std::string_view name);

}  // namespace tma_jit::emulator
