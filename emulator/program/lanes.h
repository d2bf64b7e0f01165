// Arithmetic on the 32 lanes of a warp at once: plain loops that the compiler turns into vector instructions. They are
// compiled twice, for any machine and for x86-64-v3, and chosen when the program starts.
#pragma once

#include <string_view>

#include "emulator/word.h"

namespace tma_jit::emulator {

// Computes every lane of `d` from the same lane of its sources. `d` may be one of them.
using LaneFunction = void (*)(void* d, const void* a, const void* b, const void* c);
// One bit a lane.
using CompareFunction = Mask (*)(const void* a, const void* b);

// What the lane function "addresses" makes of a base (32 of u64), an offset (one) and the active lanes (one Mask).
struct LaneAddresses {
  u64 at[kLanes];  // base plus offset; that of the first active lane where a lane is not active
  u64 low, high;   // the least and the greatest, as signed numbers
  u64 any;         // bits that are set in any
  u64 irregular;   // 0 where they are the same distance apart
};

struct NamedLanes {
  const char* name;  // "add_u32", "fma_f16x2"
  LaneFunction function;
};
struct NamedCompare {
  const char* name;  // "lt_s32", "ltu_f32"
  CompareFunction function;
};

// Null where nothing has the name. The functions are the fastest that this machine runs.
LaneFunction find_lanes(std::string_view name);
CompareFunction find_compare(std::string_view name);

}  // namespace tma_jit::emulator
