// The selection that the compile tests choose their configurations by.
#include "compile/cover.h"

#include <set>

#include <doctest/doctest.h>

namespace tma_jit::testing {
namespace {

// The pairs of the values of three columns.
Features pairs(int a, int b, int c) {
  const std::string x = "a" + std::to_string(a), y = "b" + std::to_string(b), z = "c" + std::to_string(c);
  return {x + y, x + z, y + z};
}

std::vector<Features> product(int a, int b, int c) {
  std::vector<Features> rows;
  for (int i = 0; i < a; ++i) {
    for (int j = 0; j < b; ++j) {
      for (int k = 0; k < c; ++k) {
        if (i != 6 || k == 4) rows.push_back(pairs(i, j, k));  // not all combine
      }
    }
  }
  return rows;
}

std::set<std::string> features_of(const std::vector<Features>& rows, const std::vector<std::size_t>& chosen) {
  std::set<std::string> all;
  for (const std::size_t i : chosen) all.insert(rows[i].begin(), rows[i].end());
  return all;
}

}  // namespace

TEST_CASE("a cover has every feature that a row has") {
  const std::vector<Features> rows = product(7, 3, 5);
  std::set<std::string> all;
  for (const Features& row : rows) all.insert(row.begin(), row.end());
  CHECK(features_of(rows, cover(rows)) == all);
  CHECK(features_of(rows, {0, 1}) != all);
}

TEST_CASE("a row whose features others have is not chosen") {
  CHECK(cover(std::vector<Features>{{"a"}, {"b"}, {"a"}}) == std::vector<std::size_t>{0, 1});
  CHECK(cover(std::vector<Features>{{"a"}, {"a", "b"}, {"b", "b", "b"}}) == std::vector<std::size_t>{1});
}

TEST_CASE("a cover is small") {
  CHECK(cover(product(6, 4, 8)).size() < 6 * 4 * 8 / 2);  // of 192; no cover has fewer than 48
  CHECK(cover(std::vector<Features>{{}}).empty());
  CHECK(cover({}).empty());
}

}  // namespace tma_jit::testing
