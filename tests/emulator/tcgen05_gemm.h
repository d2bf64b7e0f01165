// A multiplication by tcgen05 in PTX, as lines that a test can remove or replace.
#pragma once

#include <map>
#include <string>

namespace tma_jit::testing {

// A has 128 rows of 16 bf16, B has 64: the first 6144 bytes of global memory and of dynamic shared memory.
inline constexpr unsigned kTcgen05ImageBytes = 6144;
inline constexpr unsigned kTcgen05Out = 8192;  // offset of the 128 x 64 sums of f32

// Returns the body with some lines replaced, for planted_text (planted.h) and 128 threads of sm_100a. Each line is one
// line of planted.cu.
std::string tcgen05_gemm(const std::map<std::string, std::string>& changes = {});
// Returns the number of a line in planted.cu.
int tcgen05_line(const std::string& name);

}  // namespace tma_jit::testing
