// Seeded data for a launch: the same numbers on every machine, generated fast enough for tensors of gigabytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tma_jit/dtype.h>
#include <tma_jit/plan.h>

#include "layout.h"

namespace tma_jit::cli {

enum class DataKind : std::uint8_t {
  normal,    // standard normal, rounded to the type; integer types get small integers
  integers,  // -4 to 4 (0 to 8 if unsigned): sums of millions of products are exact in f32
};

// Fills the elements of one tensor and leaves the bytes between them unchanged. `buffer` starts at the first element.
// Tensors with different names get different numbers from the same seed.
struct Recipe {
  DataKind kind = DataKind::normal;
  std::uint64_t seed = 0;
  bool strays = false;  // one in sixteen of the indices that a kernel checks itself is just outside of their range
};
void fill_random(std::span<std::byte> buffer, DType type, const Layout& layout, const Recipe& recipe,
                 std::string_view name);
// The same for indices: valid values. Those that rise go from the least value to the greatest.
void fill_indices(std::span<std::byte> buffer, DType type, const Layout& layout, const ValueRange& range,
                  const Recipe& recipe, std::string_view name);

}  // namespace tma_jit::cli
