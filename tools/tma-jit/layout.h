// The layout of a tensor in a buffer: extents and strides in elements, outermost first, as in a request.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tma_jit::cli {

struct Layout {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;

  static Layout row_major(std::vector<std::int64_t> shape);
  // Returns a row-major layout with `pitch` elements from row to row; needs at least two dimensions.
  static Layout pitched(std::vector<std::int64_t> shape, std::int64_t pitch);

  // These two return INT64_MAX if the number does not fit.
  std::int64_t elements() const;
  // Returns the elements from the first to one past the last; 0 for an empty tensor.
  std::int64_t span() const;
  // Returns the position of the element with this row-major index, as one number per dimension.
  std::vector<std::int64_t> position(std::int64_t index) const;
};

// Calls `row(offset, first, count, stride)` for every run along the innermost dimension, in row-major order: `offset`
// is the run's start in the buffer, `first` its row-major index.
using RowVisitor =
    std::function<void(std::int64_t offset, std::int64_t first, std::int64_t count, std::int64_t stride)>;
void for_each_row(const Layout& layout, const RowVisitor& row);

}  // namespace tma_jit::cli
