#include "layout.h"

#include <cstddef>
#include <cstdint>

namespace tma_jit::cli {

namespace {

// A product that overflows becomes the largest number, since such a tensor cannot be allocated anyway.
std::int64_t product_of(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

}  // namespace

Layout Layout::row_major(std::vector<std::int64_t> shape) {
  Layout layout;
  layout.strides.resize(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    layout.strides[i] = stride;
    stride = product_of(stride, shape[i]);
  }
  layout.shape = std::move(shape);
  return layout;
}

Layout Layout::pitched(std::vector<std::int64_t> shape, std::int64_t pitch) {
  Layout layout;
  layout.strides.resize(shape.size(), 1);
  std::int64_t stride = pitch;
  for (std::size_t i = shape.size() - 1; i-- > 0;) {
    layout.strides[i] = stride;
    stride = product_of(stride, shape[i]);
  }
  layout.shape = std::move(shape);
  return layout;
}

std::int64_t Layout::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
    product = product_of(product, extent);
  }
  return product;
}

std::int64_t Layout::span() const {
  if (elements() == 0) return 0;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) last = sum_of(last, product_of(shape[i] - 1, strides[i]));
  return sum_of(last, 1);
}

std::vector<std::int64_t> Layout::position(std::int64_t index) const {
  std::vector<std::int64_t> position(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    position[i] = index % shape[i];
    index /= shape[i];
  }
  return position;
}

void for_each_row(const Layout& layout, const RowVisitor& row) {
  const std::size_t rank = layout.shape.size();
  const std::int64_t count = rank == 0 ? 1 : layout.shape[rank - 1];
  const std::int64_t stride = rank == 0 ? 1 : layout.strides[rank - 1];
  const std::int64_t rows = count == 0 ? 0 : layout.elements() / count;
  std::vector<std::int64_t> position(rank, 0);
  std::int64_t offset = 0;
  for (std::int64_t index = 0; index < rows; ++index) {
    row(offset, index * count, count, stride);
    for (std::size_t i = rank; i-- > 1;) {  // increments the position in the outer dimensions
      const std::size_t d = i - 1;
      offset += layout.strides[d];
      if (++position[d] < layout.shape[d]) break;
      offset -= position[d] * layout.strides[d];
      position[d] = 0;
    }
  }
}

}  // namespace tma_jit::cli
