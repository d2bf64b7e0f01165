// How many combinations of presets, types and devices tests take. TMA_JIT_TEST_COMBINATIONS is "few" in builds with
// sanitizers and "all" in `tools/dev test --full`, where it is "pairs" in builds with sanitizers; without it, each pair
// occurs.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace tma_jit::testing {

enum class Combinations { few, pairs, all };

inline Combinations combinations() {
  const char* variable = std::getenv("TMA_JIT_TEST_COMBINATIONS");
  const std::string_view requested = variable == nullptr ? "pairs" : variable;
  REQUIRE((requested == "few" || requested == "pairs" || requested == "all"));
  if (requested == "all") return Combinations::all;
  return requested == "few" ? Combinations::few : Combinations::pairs;
}

// Returns one value of `each` where few combinations are taken, otherwise all.
template <class T> std::vector<T> sampled(std::vector<T> values, std::size_t each = 16) {
  if (combinations() != Combinations::few) return values;
  std::vector<T> few;
  for (std::size_t i = 0; i < values.size(); i += each) few.push_back(std::move(values[i]));
  return few;
}

// Returns whether a test takes the cell of a grid: every cell where all combinations are taken, otherwise one of
// `each`. With the sum of a row's and a column's number as the cell, something of each row is taken where there are as
// many columns as `each`, and of each column where there are as many rows.
inline bool takes(std::size_t cell, std::size_t each = 2) {
  return cell % each == 0 || combinations() == Combinations::all;
}

// Returns the distance between the bytes that a test of each byte of a file changes.
inline std::size_t byte_stride() {
  constexpr std::size_t kOdd = 7;  // so that bits which depend on the place differ
  return combinations() == Combinations::few ? kOdd : 1;
}

}  // namespace tma_jit::testing
