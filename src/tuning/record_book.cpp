#include "tuning/record_book.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace tma_jit::tuning {

void RecordBook::add_layer(SharedLayer layer) {
  for (const RecordLayer::Choice& choice : layer->choices()) {
    Kernel& kernel = kernels_[choice.kernel];
    const auto known = std::ranges::find(kernel.choices, choice.file, &RecordLayer::Choice::file);
    if (known != kernel.choices.end()) {
      known->records += choice.records;
    } else {
      kernel.choices.push_back(choice);
    }
    std::ranges::sort(kernel.choices, [](const RecordLayer::Choice& a, const RecordLayer::Choice& b) {
      return a.records != b.records ? a.records > b.records : a.file < b.file;
    });
    kernel.files.clear();
    for (const RecordLayer::Choice& each : kernel.choices) kernel.files.push_back(each.file);
  }
  if (!layer->empty()) layers_.push_back(std::move(layer));
}

void RecordBook::add_layer(std::string origin, const std::vector<TuningRecord>& records, std::string lines) {
  auto layer = std::make_shared<RecordLayer>(std::move(origin), std::move(lines));
  for (const std::string_view line : split(layer->text(), '\n')) {
    if (!line.empty()) layer->add(line);
  }
  for (const TuningRecord& record : records) layer->add(record);
  layer->sort();
  add_layer(std::move(layer));
}

std::optional<Advice> RecordBook::of(const TuningRecord& problem, const Current& is_current) const {
  for (const SharedLayer& layer : layers_) {
    auto known = layer->of(problem, is_current);
    if (known) return Advice{std::move(known->record), layer->origin(), false, {known->line, layer}};
  }
  return std::nullopt;
}

std::optional<Advice> RecordBook::find(const TuningRecord& problem, const Current& is_current) const {
  if (auto known = of(problem, is_current)) return known;
  std::optional<Advice> nearest;
  double least = std::nextafter(kNearest, 1);
  for (const SharedLayer& layer : layers_) {
    double far = least;
    auto nearer = layer->nearest(problem, is_current, far);
    if (!nearer) continue;
    least = far;
    nearest = Advice{*std::move(nearer), layer->origin(), true};
  }
  return nearest;
}

std::span<const std::string_view> RecordBook::files(std::string_view kernel) const {
  const auto known = kernels_.find(kernel);
  return known != kernels_.end() ? known->second.files : std::span<const std::string_view>();
}

}  // namespace tma_jit::tuning
