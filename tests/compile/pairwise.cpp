#include "compile/pairwise.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace tma_jit::testing {
namespace {

// The columns that a pair leaves out, and the values in the two others.
using Pair = std::tuple<std::size_t, std::string, std::string>;

std::array<Pair, 3> pairs_of(const PairwiseRow& row) {
  return {{{0, row[1], row[2]}, {1, row[0], row[2]}, {2, row[0], row[1]}}};
}

}  // namespace

std::vector<std::size_t> pairwise_cover(std::span<const PairwiseRow> rows) {
  std::set<Pair> open;
  for (const PairwiseRow& row : rows) {
    for (const Pair& pair : pairs_of(row)) open.insert(pair);
  }
  const auto gain = [&](const PairwiseRow& row) {
    const auto pairs = pairs_of(row);
    return std::count_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return open.contains(pair); });
  };
  std::vector<std::size_t> chosen;
  while (!open.empty()) {
    const auto best = std::max_element(rows.begin(), rows.end(),
                                       [&](const PairwiseRow& a, const PairwiseRow& b) { return gain(a) < gain(b); });
    for (const Pair& pair : pairs_of(*best)) open.erase(pair);
    chosen.push_back(static_cast<std::size_t>(best - rows.begin()));
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace tma_jit::testing
