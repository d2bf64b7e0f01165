// A view of device memory: address, element type, shape and strides. Does not own the memory.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include <tma_jit/dtype.h>

namespace tma_jit {

inline constexpr int kMaxRank = 5;

// Shapes and strides are in elements, outermost dimension first. A default-constructed tensor has rank 0 and means "not
// given". A `rank` above kMaxRank is kept so that `prepare` can reject it; only the first kMaxRank extents are stored.
struct Tensor {
  std::uint64_t address = 0;
  DType dtype = DType::f32;
  int rank = 0;
  std::array<std::int64_t, kMaxRank> shape{};
  std::array<std::int64_t, kMaxRank> strides{};

  // Packed: the last dimension is contiguous. A stride that 64 bits cannot hold is INT64_MAX; `prepare` rejects a
  // tensor of that many elements.
  TMA_JIT_API static Tensor row_major(std::uint64_t address, DType dtype, std::initializer_list<std::int64_t> shape);
  TMA_JIT_API static Tensor strided(std::uint64_t address, DType dtype, std::initializer_list<std::int64_t> shape,
                                    std::initializer_list<std::int64_t> strides);
  // The same for pointers, and for shapes whose rank is known only at run time.
  TMA_JIT_API static Tensor row_major(const void* address, DType dtype, std::initializer_list<std::int64_t> shape);
  TMA_JIT_API static Tensor strided(const void* address, DType dtype, std::initializer_list<std::int64_t> shape,
                                    std::initializer_list<std::int64_t> strides);
  TMA_JIT_API static Tensor row_major(std::uint64_t address, DType dtype, int rank, const std::int64_t* shape);
  TMA_JIT_API static Tensor strided(std::uint64_t address, DType dtype, int rank, const std::int64_t* shape,
                                    const std::int64_t* strides);

  // Returns the product of the extents, INT64_MAX if 64 bits cannot hold it; 1 for rank 0.
  TMA_JIT_API std::int64_t elements() const;
};

}  // namespace tma_jit
