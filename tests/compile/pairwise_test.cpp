// The cover that the compile tests choose their configurations by.
#include "compile/pairwise.h"

#include <set>
#include <utility>

#include <doctest/doctest.h>

namespace tma_jit::testing {
namespace {

std::vector<PairwiseRow> product(int a, int b, int c) {
  std::vector<PairwiseRow> rows;
  for (int i = 0; i < a; ++i) {
    for (int j = 0; j < b; ++j) {
      for (int k = 0; k < c; ++k) rows.push_back({std::to_string(i), std::to_string(j), std::to_string(k)});
    }
  }
  return rows;
}

std::set<std::pair<std::string, std::string>> pairs(const std::vector<PairwiseRow>& rows, std::size_t x,
                                                    std::size_t y) {
  std::set<std::pair<std::string, std::string>> found;
  for (const PairwiseRow& row : rows) found.emplace(row[x], row[y]);
  return found;
}

std::vector<PairwiseRow> chosen_of(const std::vector<PairwiseRow>& rows) {
  std::vector<PairwiseRow> chosen;
  for (const std::size_t i : pairwise_cover(rows)) chosen.push_back(rows[i]);
  return chosen;
}

}  // namespace

TEST_CASE("a pairwise cover has every pair that a row has") {
  std::vector<PairwiseRow> rows = product(7, 3, 5);
  std::erase_if(rows, [](const PairwiseRow& row) { return row[0] == "6" && row[2] != "4"; });  // not all combine
  const auto chosen = chosen_of(rows);
  for (const auto& [x, y] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{1, 2}}) {
    const auto a = static_cast<std::size_t>(x), b = static_cast<std::size_t>(y);
    CHECK(pairs(chosen, a, b) == pairs(rows, a, b));
  }
}

TEST_CASE("every value of a single column occurs") {
  CHECK(pairwise_cover(std::vector<PairwiseRow>{{"a"}, {"b"}, {"a"}}) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("a pairwise cover is small") {
  CHECK(chosen_of(product(8, 4, 6)).size() < 8 * 6 * 3 / 2);  // of 192; no cover has fewer than 48
  CHECK(chosen_of(product(5, 1, 1)).size() == 5);
  CHECK(chosen_of(product(1, 1, 1)).size() == 1);
  CHECK(chosen_of({}).empty());
}

}  // namespace tma_jit::testing
