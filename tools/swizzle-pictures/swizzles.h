// Pictures of the swizzles, drawn with the arithmetic of plan/swizzle.h, which tests compare with hardware.
#pragma once

#include <vector>

#include "drawing.h"

namespace tma_jit::pictures {

// Returns one picture per swizzle: eight lines of shared memory, and in each piece the number of the box's piece there.
std::vector<Picture> swizzles();

}  // namespace tma_jit::pictures
