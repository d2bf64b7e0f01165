#include "tuning/record_book.h"

#include <cmath>
#include <limits>

#include "tuning/problem_key.h"

namespace tma_jit::tuning {
namespace {

double distance(std::int64_t a, std::int64_t b) {
  if (a == b) return 0;
  if (a <= 0 || b <= 0) return std::numeric_limits<double>::infinity();
  return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
}

// Returns infinity if the dims have other names.
double distance(const TuningRecord& a, const TuningRecord& b) {
  if (a.dims.size() != b.dims.size()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (auto x = a.dims.begin(), y = b.dims.begin(); x != a.dims.end(); ++x, ++y) {
    sum += x->first == y->first ? distance(x->second, y->second) : std::numeric_limits<double>::infinity();
  }
  return sum;
}

}  // namespace

void RecordBook::add_layer(std::string origin, std::vector<TuningRecord> records) {
  if (records.empty()) return;
  Searched layer{std::move(origin), {}, {}};
  for (TuningRecord& record : records) {
    const auto [known, is_new] = layer.by_problem.try_emplace(problem_key(record), record);
    if (!is_new && record.us < known->second.us) known->second = std::move(record);
  }
  for (const auto& [key, record] : layer.by_problem) layer.by_family.emplace(family_key(record), &record);
  layers_.push_back(std::move(layer));
}

std::optional<Advice> RecordBook::find(const TuningRecord& problem) const {
  const std::string key = problem_key(problem), family = family_key(problem);
  for (const Searched& layer : layers_) {
    if (const auto known = layer.by_problem.find(key); known != layer.by_problem.end()) {
      return Advice{known->second, layer.origin, false};
    }
  }
  std::optional<Advice> nearest;
  double least = std::nextafter(kNearest, 1);
  for (const Searched& layer : layers_) {
    const auto [first, last] = layer.by_family.equal_range(family);
    for (auto at = first; at != last; ++at) {
      const double far = distance(problem, *at->second);
      if (far >= least) continue;
      least = far;
      nearest = Advice{*at->second, layer.origin, true};
    }
  }
  return nearest;
}

}  // namespace tma_jit::tuning
