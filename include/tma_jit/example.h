// Example problems: dims that a kernel takes, found from what its template declares.
#pragma once

#include <cstdint>

namespace tma_jit {

// What the extents of an example are like. All are large enough that every box of a tensor map has a neighbour, every
// ring of stages goes round and blocks that take several tiles have several, as far as the ranges of the dims allow;
// and no larger.
enum class Extents : std::uint8_t {
  ragged,  // multiples of 8 elements: the last tile of every row and column is a part of one
  whole,   // multiples of 32: whole tiles
  odd,     // odd, except where a rule of the template or of TMA refuses that
};

struct ExampleSize {
  Extents extents = Extents::ragged;
  std::int64_t least = 0;  // of every dim whose range allows it
};

}  // namespace tma_jit
