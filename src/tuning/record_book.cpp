#include "tuning/record_book.h"

#include <algorithm>
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
    files_.insert(record.file);
    const auto [known, is_new] = layer.by_problem.try_emplace(problem_key(record), record);
    if (!is_new && record.us < known->second.us) known->second = std::move(record);
  }
  std::vector<std::pair<const std::string, TuningRecord>*> in_order;
  in_order.reserve(layer.by_problem.size());
  for (auto& entry : layer.by_problem) in_order.push_back(&entry);
  std::ranges::sort(in_order, {}, [](const auto* entry) -> const std::string& { return entry->first; });
  for (const auto* entry : in_order) layer.by_family[family_key(entry->second)].push_back(&entry->second);
  layers_.push_back(std::move(layer));
}

std::optional<Advice> RecordBook::of(const TuningRecord& problem) const {
  const std::string key = problem_key(problem);
  for (const Searched& layer : layers_) {
    if (const auto known = layer.by_problem.find(key); known != layer.by_problem.end()) {
      return Advice{known->second, layer.origin, false};
    }
  }
  return std::nullopt;
}

std::optional<Advice> RecordBook::find(const TuningRecord& problem) const {
  if (auto known = of(problem)) return known;
  const std::string family = family_key(problem);
  std::optional<Advice> nearest;
  double least = std::nextafter(kNearest, 1);
  for (const Searched& layer : layers_) {
    const auto records = layer.by_family.find(family);
    if (records == layer.by_family.end()) continue;
    for (const TuningRecord* record : records->second) {
      const double far = distance(problem, *record);
      if (far >= least) continue;
      least = far;
      nearest = Advice{*record, layer.origin, true};
    }
  }
  return nearest;
}

}  // namespace tma_jit::tuning
