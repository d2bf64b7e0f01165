// Integer types of the emulated devices, and the number of lanes of a warp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tma_jit::emulator {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

inline constexpr int kLanes = 32;

// One bit per lane, lane 0 in bit 0.
using Mask = u32;
inline constexpr Mask kAllLanes = ~Mask{0};

// Calls f(lane) for each lane of the mask, in ascending order.
template <class F> void for_each(Mask lanes, F f) {
  if (lanes == kAllLanes) {
    for (int i = 0; i < kLanes; ++i) f(i);
    return;
  }
  for (Mask rest = lanes; rest != 0; rest &= rest - 1) f(std::countr_zero(rest));
}

}  // namespace tma_jit::emulator
