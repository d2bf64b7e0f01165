// The layout of generic addresses. Global memory is host memory, so a generic address of global memory is a host
// pointer; the other windows are outside the range of host pointers.
#pragma once

#include "emulator/word.h"

namespace tma_jit::emulator {

// An address in the shared window has the rank of the block in its cluster above 24 bits of offset. Kernels that toggle
// a bit of the rank depend on this (PTX ISA 9.0, "mapa").
inline constexpr u32 kRankShift = 24;
inline constexpr u32 kOffsetMask = (u32{1} << kRankShift) - 1;

inline constexpr u64 kWindowMask = u64{0xff} << 56;
inline constexpr u64 kSharedWindow = u64{0x07} << 56;
inline constexpr u64 kLocalWindow = u64{0x06} << 56;
inline constexpr u64 kFunctionWindow = u64{0x05} << 56;  // addresses of functions; not backed by memory

inline bool is_shared(u64 generic) {
  return (generic & kWindowMask) == kSharedWindow;
}
inline bool is_local(u64 generic) {
  return (generic & kWindowMask) == kLocalWindow;
}

}  // namespace tma_jit::emulator
