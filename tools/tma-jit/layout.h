// How a tensor lies in a buffer: extents and strides in elements, outermost first, as the request gives them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tma_jit::cli {

struct Layout {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;

  static Layout row_major(std::vector<std::int64_t> shape);
  // Row-major with `pitch` elements from one row to the next; needs two dimensions.
  static Layout pitched(std::vector<std::int64_t> shape, std::int64_t pitch);

  // These two are INT64_MAX where the number does not fit.
  std::int64_t elements() const;
  // Elements from the first to one past the last; 0 for an empty tensor.
  std::int64_t span() const;
  // The position of the element that is `index`th in row-major order, as one number a dimension.
  std::vector<std::int64_t> position(std::int64_t index) const;
};

// Calls `row(offset, first, count, stride)` for every run along the innermost dimension, in row-major order: `offset`
// is where the run starts in the buffer, `first` its index in row-major order.
using RowVisitor =
    std::function<void(std::int64_t offset, std::int64_t first, std::int64_t count, std::int64_t stride)>;
void for_each_row(const Layout& layout, const RowVisitor& row);

}  // namespace tma_jit::cli
