// Pictures of what one instruction moves: a box with a halo, a box with steps, an interleaved tensor, a column of
// pixels.
#pragma once

#include <vector>

#include "drawing.h"

namespace tma_jit::pictures {

std::vector<Picture> boxes();

}  // namespace tma_jit::pictures
