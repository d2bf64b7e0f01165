#include "support/products.h"

namespace tma_jit::testing {
namespace {

std::vector<float> transposed(const std::vector<float>& rows, std::int64_t count, std::int64_t length) {
  std::vector<float> columns(rows.size());
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < length; ++j)
      columns[static_cast<std::size_t>(j * count + i)] = rows[static_cast<std::size_t>(i * length + j)];
  }
  return columns;
}

}  // namespace

// Along the columns of B, so that a compiler may take several at a time.
std::vector<float> products(const Factors& factors) {
  const std::int64_t m = factors.m, n = factors.n, k = factors.k;
  const std::vector<float> columns = transposed(factors.b, n, k);
  std::vector<float> sums(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    float* const row = sums.data() + i * n;
    for (std::int64_t x = 0; x < k; ++x) {
      const float left = factors.a[static_cast<std::size_t>(i * k + x)];
      const float* const right = columns.data() + x * n;
      for (std::int64_t j = 0; j < n; ++j) row[j] += left * right[j];
    }
  }
  return sums;
}

}  // namespace tma_jit::testing
