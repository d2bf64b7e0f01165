// A tensor map that is being checked, and the texts that the rules share.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/failure.h"
#include "plan/tensor_map_rules.h"

namespace tma_jit::plan {

struct MapSubject {
  const TensorMapSpec& spec;
  const MapTarget& target;
  std::string_view name;

  std::size_t rank() const { return static_cast<std::size_t>(spec.rank); }
  // Returns the template's index of a dimension, which counts from the outermost.
  std::size_t written(std::size_t dimension) const { return rank() - 1 - dimension; }
  std::uint64_t bits() const { return static_cast<std::uint64_t>(bits_of(spec.type())); }
  bool tiled() const { return spec.mode == MapMode::tile; }
  // Returns e.g. "box [128, 64] of bf16"; the type is needed to understand a number of bytes.
  std::string box() const;

  template <class... Args>
  [[nodiscard]] tl::unexpected<Error> fault(fmt::format_string<Args...> format, Args&&... args) const {
    return failure(ErrorCode::invalid_argument, "{}: {}", name, fmt::format(format, std::forward<Args>(args)...));
  }
};

template <class Array> std::string outermost_first(const Array& values, int rank) {
  std::string text = "[";
  for (int i = rank; i-- > 0;)
    fmt::format_to(std::back_inserter(text), "{}{}", values[static_cast<std::size_t>(i)], i > 0 ? ", " : "");
  return text + "]";
}

inline std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Checks the rules of the box, or of pixels, channels and corners; and of the swizzle.
[[nodiscard]] Result<void> check_box(const MapSubject& subject);
[[nodiscard]] Result<void> check_corners(const MapSubject& subject);
[[nodiscard]] Result<void> check_swizzle(const MapSubject& subject);
// Checks rules of Blackwell's modes and types that are documented (CUDA Driver API 13.0, cuTensorMapEncodeIm2colWide;
// PTX ISA 9.0, "Interleave layout") but were not confirmed with a driver, because no tested driver had such a device.
[[nodiscard]] Result<void> check_documented(const MapSubject& subject);

}  // namespace tma_jit::plan
