#include "compile/cover.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

namespace tma_jit::testing {
namespace {

// Returns the numbers of the features of each row; equal features have the same number.
std::vector<std::vector<std::size_t>> numbered(std::span<const Features> rows) {
  std::map<std::string_view, std::size_t> numbers;
  std::vector<std::vector<std::size_t>> all;
  for (const Features& row : rows) {
    auto& of_row = all.emplace_back();
    for (const std::string& feature : row) of_row.push_back(numbers.try_emplace(feature, numbers.size()).first->second);
    std::ranges::sort(of_row);
    of_row.erase(std::ranges::unique(of_row).begin(), of_row.end());
  }
  return all;
}

}  // namespace

std::vector<std::size_t> cover(std::span<const Features> rows) {
  auto open = numbered(rows);  // of each row, the features that no chosen row has
  std::vector<std::size_t> left(rows.size()), chosen;
  std::iota(left.begin(), left.end(), std::size_t{0});
  while (true) {
    std::erase_if(left, [&](std::size_t row) { return open[row].empty(); });
    if (left.empty()) break;
    const std::size_t best = *std::ranges::max_element(left, {}, [&](std::size_t row) { return open[row].size(); });
    chosen.push_back(best);
    const std::vector<std::size_t> covered = open[best];
    for (const std::size_t row : left) {
      std::erase_if(open[row], [&](std::size_t feature) { return std::ranges::binary_search(covered, feature); });
    }
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace tma_jit::testing
