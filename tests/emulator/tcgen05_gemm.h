// A multiplication by tcgen05 in PTX, line by line, so that a test can leave one out or put another in its place.
#pragma once

#include <map>
#include <string>

namespace tma_jit::testing {

// A of 128 rows by 16 bf16, then B of 64: the first 6144 bytes of global memory, and of the dynamic shared memory.
inline constexpr unsigned kTcgen05ImageBytes = 6144;
inline constexpr unsigned kTcgen05Out = 8192;  // where the 128 x 64 sums of f32 are stored

// The body with some lines replaced, for planted_text (planted.h) and 128 threads of sm_100a. Each of the lines is one
// line of planted.cu.
std::string tcgen05_gemm(const std::map<std::string, std::string>& changes = {});
// The number of a line in planted.cu.
int tcgen05_line(const std::string& name);

}  // namespace tma_jit::testing
