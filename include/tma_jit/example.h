// Example problems: dims that a kernel accepts, derived from its template's declarations.
#pragma once

#include <cstdint>

namespace tma_jit {

// The kind of extents of an example. All are the smallest that, as far as the ranges of the dims allow, give every box
// of a tensor map a neighbour, wrap every ring of stages around, and give several tiles to blocks that can take
// several.
enum class Extents : std::uint8_t {
  ragged,  // multiples of 8 elements: the last tile of every row and column is partial
  whole,   // multiples of 32: all tiles are complete
  odd,     // odd, except where a rule of the template or of TMA forbids it
};

struct ExampleSize {
  Extents extents = Extents::ragged;
  std::int64_t least = 0;  // lower bound of every dim whose range allows it
};

}  // namespace tma_jit
