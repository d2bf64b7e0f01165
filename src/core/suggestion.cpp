// The search for the name that was probably meant.
#include <algorithm>
#include <numeric>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit {
namespace {

// Levenshtein distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

// A word of one letter is at the same distance from every other letter, so that only its other case counts as near.
bool is_near(std::string_view word, std::string_view name, std::size_t distance) {
  if (word.size() == 1) return name.size() == 1 && (word[0] ^ name[0]) == ('a' ^ 'A');
  return distance <= std::max<std::size_t>(1, word.size() / 3);
}

}  // namespace

std::string nearest_name(std::string_view word, std::span<const std::string> known) {
  const std::string* nearest = nullptr;
  std::size_t best = 0;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(word, name);
    if (!is_near(word, name, distance) || (nearest != nullptr && distance >= best)) continue;
    best = distance;
    nearest = &name;
  }
  return nearest != nullptr ? *nearest : std::string();
}

}  // namespace tma_jit
