// A small selection that covers: of many rows, few in which everything occurs that occurs in a row.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tma_jit::testing {

using Features = std::vector<std::string>;  // what occurs in a row

// Returns the indices of the chosen rows, in ascending order. Greedy: each next row adds the most features, the first
// of equals.
std::vector<std::size_t> cover(std::span<const Features> rows);

}  // namespace tma_jit::testing
