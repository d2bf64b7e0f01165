// What a gemm gives, done on the host.
#pragma once

#include <cstdint>
#include <vector>

namespace tma_jit::testing {

// A of m rows and B of n, row-major, each row of k elements.
struct Factors {
  std::int64_t m, n, k;
  std::vector<float> a, b;
};

// Row-major, m x n: A * B^T. Exact where all sums are integers below 2^24.
std::vector<float> products(const Factors& factors);

}  // namespace tma_jit::testing
