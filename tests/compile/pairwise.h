// Pairwise cover: of many rows, few in which every value of a column and every pair of values that some row has in two
// of its columns occurs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tma_jit::testing {

using PairwiseRow = std::vector<std::string>;  // all of one length

// The indices of the chosen rows, in ascending order. Greedy: each next row adds the most pairs, the first of equals.
std::vector<std::size_t> pairwise_cover(std::span<const PairwiseRow> rows);

}  // namespace tma_jit::testing
