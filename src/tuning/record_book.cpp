#include "tuning/record_book.h"

#include <algorithm>
#include <cmath>

namespace tma_jit::tuning {

void RecordBook::add_layer(SharedLayer layer) {
  if (!layer->empty()) layers_.push_back(std::move(layer));
}

void RecordBook::add_layer(std::string origin, const std::vector<TuningRecord>& records) {
  auto layer = std::make_shared<RecordLayer>(std::move(origin));
  for (const TuningRecord& record : records) layer->add(record);
  layer->sort();
  add_layer(std::move(layer));
}

std::optional<Advice> RecordBook::of(const TuningRecord& problem) const {
  for (const SharedLayer& layer : layers_) {
    if (auto known = layer->of(problem)) return Advice{*std::move(known), layer->origin(), false};
  }
  return std::nullopt;
}

std::optional<Advice> RecordBook::find(const TuningRecord& problem) const {
  if (auto known = of(problem)) return known;
  std::optional<Advice> nearest;
  double least = std::nextafter(kNearest, 1);
  for (const SharedLayer& layer : layers_) {
    if (auto nearer = layer->nearest(problem, least)) nearest = Advice{*std::move(nearer), layer->origin(), true};
  }
  return nearest;
}

bool RecordBook::names(std::string_view stem) const {
  return std::ranges::any_of(layers_, [&](const SharedLayer& layer) { return layer->names(stem); });
}

}  // namespace tma_jit::tuning
