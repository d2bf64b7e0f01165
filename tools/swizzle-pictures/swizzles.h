// The swizzles, drawn by the arithmetic of plan/swizzle.h, which is held against hardware.
#pragma once

#include <vector>

#include "drawing.h"

namespace tma_jit::pictures {

// One of each: eight lines of shared memory, and in each piece of it which piece of the box lies there.
std::vector<Picture> swizzles();

}  // namespace tma_jit::pictures
