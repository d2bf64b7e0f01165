// How addresses look. Global memory is the host's own, so that a generic address of global memory is a pointer; the
// other windows lie where no host pointer can.
#pragma once

#include "emulator/word.h"

namespace tma_jit::emulator {

// An address of the shared window: the rank of the block in its cluster above 24 bits of offset, as kernels that turn
// a rank's bit on and off assume (PTX ISA 9.0, "mapa").
inline constexpr u32 kRankShift = 24;
inline constexpr u32 kOffsetMask = (u32{1} << kRankShift) - 1;

inline constexpr u64 kWindowMask = u64{0xff} << 56;
inline constexpr u64 kSharedWindow = u64{0x07} << 56;
inline constexpr u64 kLocalWindow = u64{0x06} << 56;
inline constexpr u64 kFunctionWindow = u64{0x05} << 56;  // numbers that stand for functions; no memory

inline bool is_shared(u64 generic) {
  return (generic & kWindowMask) == kSharedWindow;
}
inline bool is_local(u64 generic) {
  return (generic & kWindowMask) == kLocalWindow;
}

}  // namespace tma_jit::emulator
