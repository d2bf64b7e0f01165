// One tensor map under examination by the rules, and the words they share.
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
  const MapPlace& place;
  std::string_view name;

  std::size_t rank() const { return static_cast<std::size_t>(spec.rank); }
  // The template's index of a dimension: outermost first.
  std::size_t written(std::size_t dimension) const { return rank() - 1 - dimension; }
  std::uint64_t bits() const { return static_cast<std::uint64_t>(bits_of(spec.type())); }
  bool tiled() const { return spec.mode == MapMode::tile; }
  // "box [128, 64] of bf16"; the extents alone would not say what a byte count is of.
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

// The rules of the box, or of pixels, channels and corners; and of the swizzle that they share.
[[nodiscard]] Result<void> check_box(const MapSubject& subject);
[[nodiscard]] Result<void> check_corners(const MapSubject& subject);
[[nodiscard]] Result<void> check_swizzle(const MapSubject& subject);
// What the driver's documentation asks of Blackwell's modes and types beyond what a driver was seen to ask: none that
// was asked had such a device (CUDA Driver API 13.0, cuTensorMapEncodeIm2colWide; PTX ISA 9.0, "Interleave layout").
[[nodiscard]] Result<void> check_documented(const MapSubject& subject);

}  // namespace tma_jit::plan
