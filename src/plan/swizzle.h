// Where the bytes of a tile lie in shared memory once TMA has swizzled them: the host's copy of what the hardware does,
// for tests, for tools that draw it, and for checking what a kernel author computes by hand.
#pragma once

#include <cstdint>

#include <tma_jit/tensor_map.h>

namespace tma_jit::plan {

// Byte `offset` of the tile as if it were not swizzled lies at swizzled(swizzle, offset), both relative to a base that
// is a multiple of the pattern's period. The pattern exchanges pieces within `span_of(swizzle)` bytes by the number of
// the 128-byte line: it is its own inverse.
std::uint32_t swizzled(Swizzle swizzle, std::uint32_t offset);

// Bytes after which the pattern repeats; a tile's base must be a multiple of it for the formula to hold. 128 for none,
// the alignment TMA asks for anyway.
std::uint32_t period_of(Swizzle swizzle);

}  // namespace tma_jit::plan
