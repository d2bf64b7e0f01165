// The position of the bytes of a tile in shared memory after TMA's swizzle: a copy of the hardware's function for the
// host, for tests, for tools that draw it, and to check what a kernel's author computes by hand.
#pragma once

#include <cstdint>

#include <tma_jit/tensor_map.h>

namespace tma_jit::plan {

// Returns the offset in the swizzled tile of the byte at `offset` in the tile without swizzle, both relative to a base
// that is a multiple of the pattern's period. The pattern permutes pieces within `span_of(swizzle)` bytes depending on
// the number of the 128-byte line; it is its own inverse.
std::uint32_t swizzled(Swizzle swizzle, std::uint32_t offset);

// Returns the bytes after which the pattern repeats. `swizzled` is valid only for a tile whose base is a multiple of
// it. 128 for no swizzle, which is the alignment that TMA requires in any case.
std::uint32_t period_of(Swizzle swizzle);

}  // namespace tma_jit::plan
