#include <algorithm>
#include <cstdint>

#include <tma_jit/tensor.h>

namespace tma_jit {
namespace {

std::uint64_t as_address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

std::int64_t product_of(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace

Tensor Tensor::strided(std::uint64_t address, DType dtype, int rank, const std::int64_t* shape,
                       const std::int64_t* strides) {
  Tensor tensor;
  tensor.address = address;
  tensor.dtype = dtype;
  tensor.rank = rank;
  const int kept = std::clamp(rank, 0, kMaxRank);
  std::copy_n(shape, kept, tensor.shape.begin());
  std::copy_n(strides, kept, tensor.strides.begin());
  return tensor;
}

Tensor Tensor::row_major(std::uint64_t address, DType dtype, int rank, const std::int64_t* shape) {
  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t stride = 1;
  for (int i = std::clamp(rank, 0, kMaxRank); i-- > 0;) {
    strides[static_cast<std::size_t>(i)] = stride;
    stride = product_of(stride, std::max<std::int64_t>(shape[i], 1));
  }
  return strided(address, dtype, rank, shape, strides.data());
}

Tensor Tensor::row_major(std::uint64_t address, DType dtype, std::initializer_list<std::int64_t> shape) {
  return row_major(address, dtype, static_cast<int>(shape.size()), shape.begin());
}

// A list of strides that is shorter than the shape must not be read past its end. The rank then becomes -1, which
// `prepare` rejects.
Tensor Tensor::strided(std::uint64_t address, DType dtype, std::initializer_list<std::int64_t> shape,
                       std::initializer_list<std::int64_t> strides) {
  const bool matched = shape.size() == strides.size();
  return strided(address, dtype, matched ? static_cast<int>(shape.size()) : -1, shape.begin(), strides.begin());
}

Tensor Tensor::row_major(const void* address, DType dtype, std::initializer_list<std::int64_t> shape) {
  return row_major(as_address(address), dtype, shape);
}

Tensor Tensor::strided(const void* address, DType dtype, std::initializer_list<std::int64_t> shape,
                       std::initializer_list<std::int64_t> strides) {
  return strided(as_address(address), dtype, shape, strides);
}

std::int64_t Tensor::elements() const {
  std::int64_t product = 1;
  for (int i = 0; i < std::clamp(rank, 0, kMaxRank); ++i) {
    const std::int64_t extent = shape[static_cast<std::size_t>(i)];
    if (extent == 0) return 0;
    product = product_of(product, extent);
  }
  return product;
}

}  // namespace tma_jit
