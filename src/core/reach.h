// Where the elements of a tensor lie around its first one: behind it, and before it where strides are negative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tma_jit {

// In elements, from the first one to the lowest and to the highest.
struct Reach {
  std::int64_t before = 0, after = 0;
  std::int64_t span() const { return before + after + 1; }
};

// Returns nullopt if the tensor has no elements. Extents and strides are those of a plan, which 63 bits hold.
inline std::optional<Reach> reach_of(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  Reach reach;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return std::nullopt;
    (strides[i] < 0 ? reach.before : reach.after) += (shape[i] - 1) * (strides[i] < 0 ? -strides[i] : strides[i]);
  }
  return reach;
}

}  // namespace tma_jit
