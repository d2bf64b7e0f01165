// The values of integer element types.
#pragma once

#include <cstdint>
#include <limits>

#include <tma_jit/dtype.h>

namespace tma_jit {

inline bool is_unsigned(DType type) {
  return type == DType::u8 || type == DType::u16 || type == DType::u32 || type == DType::u64;
}

// The least and the greatest value that elements of an integer type and 64-bit signed integers have in common.
inline std::int64_t most_of(DType type) {
  const std::size_t bits = 8 * size_of(type) - (is_unsigned(type) ? 0 : 1);
  return bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
}
inline std::int64_t least_of(DType type) {
  return is_unsigned(type) ? 0 : -most_of(type) - 1;
}

inline bool holds(DType type, std::int64_t value) {
  return value >= least_of(type) && value <= most_of(type);
}

}  // namespace tma_jit
