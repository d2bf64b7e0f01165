// Times as callers give them.
#pragma once

#include <chrono>

namespace tma_jit {

// Seconds as a time that can be counted in nanoseconds: what is too long for that, infinity too, is the longest such
// time (292 years), and less than none is none. What is not a number is none.
std::chrono::milliseconds milliseconds_of(double seconds);

}  // namespace tma_jit
