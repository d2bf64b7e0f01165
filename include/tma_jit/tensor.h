// A view of device memory: address, element type, shape and strides. Owns nothing.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include <tma_jit/dtype.h>

namespace tma_jit {

inline constexpr int kMaxRank = 5;

// Shapes and strides are in elements, outermost dimension first. A default-constructed tensor is
// rank 0 and stands for "not given". A `rank` above kMaxRank is kept so that `prepare` can refuse it;
// only the first kMaxRank extents are stored.
struct Tensor {
  std::uint64_t address = 0;
  DType dtype = DType::f32;
  int rank = 0;
  std::array<std::int64_t, kMaxRank> shape{};
  std::array<std::int64_t, kMaxRank> strides{};

  // Packed, last dimension contiguous.
  TMA_JIT_API static Tensor row_major(std::uint64_t address, DType dtype, std::initializer_list<std::int64_t> shape);
  TMA_JIT_API static Tensor strided(std::uint64_t address, DType dtype, std::initializer_list<std::int64_t> shape,
                                    std::initializer_list<std::int64_t> strides);
  // The same from pointers and counted arrays, for callers whose rank is known at run time.
  TMA_JIT_API static Tensor row_major(const void* address, DType dtype, std::initializer_list<std::int64_t> shape);
  TMA_JIT_API static Tensor strided(const void* address, DType dtype, std::initializer_list<std::int64_t> shape,
                                    std::initializer_list<std::int64_t> strides);
  TMA_JIT_API static Tensor strided(std::uint64_t address, DType dtype, int rank, const std::int64_t* shape,
                                    const std::int64_t* strides);

  // Product of the extents; 1 for rank 0.
  TMA_JIT_API std::int64_t elements() const;
};

}  // namespace tma_jit
