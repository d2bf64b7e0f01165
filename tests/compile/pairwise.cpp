#include "compile/pairwise.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tma_jit::testing {
namespace {

// Two columns, which are the same for a single value, and the values in them.
using Pair = std::tuple<std::size_t, std::size_t, std::string_view, std::string_view>;

// Returns the numbers of the pairs of each row; equal pairs have the same number.
std::vector<std::vector<std::size_t>> numbered_pairs(std::span<const PairwiseRow> rows) {
  std::map<Pair, std::size_t> numbers;
  std::vector<std::vector<std::size_t>> all;
  for (const PairwiseRow& row : rows) {
    auto& of_row = all.emplace_back();
    for (std::size_t a = 0; a < row.size(); ++a) {
      for (std::size_t b = a; b < row.size(); ++b) {
        of_row.push_back(numbers.try_emplace({a, b, row[a], row[b]}, numbers.size()).first->second);
      }
    }
  }
  return all;
}

}  // namespace

std::vector<std::size_t> pairwise_cover(std::span<const PairwiseRow> rows) {
  const auto pairs = numbered_pairs(rows);
  std::size_t open = 0;
  for (const auto& of_row : pairs) {
    for (const std::size_t pair : of_row) open = std::max(open, pair + 1);
  }
  std::vector<bool> covered(open);
  const auto gain = [&](std::size_t row) {
    return std::ranges::count(pairs[row], false, [&](std::size_t pair) { return bool{covered[pair]}; });
  };
  std::vector<std::size_t> chosen;
  while (open > 0) {
    std::size_t best = 0;
    std::ptrdiff_t most = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto gained = gain(row);
      if (gained > most) best = row, most = gained;
    }
    for (const std::size_t pair : pairs[best]) covered[pair] = true;
    open -= static_cast<std::size_t>(most);
    chosen.push_back(best);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace tma_jit::testing
