#include "tuning/elimination.h"

#include <algorithm>
#include <cmath>

#include "core/failure.h"

namespace tma_jit::tuning {
namespace {

constexpr double kErrors = 3;     // number of standard errors that do not count as a gain
constexpr double kAlike = 0.005;  // by so much more of the planned one's time a configuration is as fast as another

std::vector<std::size_t> numbers_of(std::span<const Standing> standings) {
  std::vector<std::size_t> numbers;
  for (const Standing& standing : standings) numbers.push_back(standing.entrant);
  return numbers;
}

}  // namespace

Result<void> Elimination::halve(std::vector<Standing>& entrants) {
  std::ranges::stable_sort(entrants, {}, &Standing::ratio);
  while (entrants.size() > kFinalists) {
    entrants.resize(std::max(kFinalists, (entrants.size() + 1) / 2));
    if (track_.over()) continue;
    const std::vector<std::size_t> numbers = numbers_of(entrants);
    std::vector<std::vector<double>> ratios(entrants.size());
    for (std::size_t place = 0; place < kHalfPlaces * demands_.thoroughness; ++place) {
      TMA_JIT_ASSIGN(const std::vector<double> found, track_.race(numbers, {.place = next_place_++}));
      for (std::size_t i = 0; i < found.size(); ++i) ratios[i].push_back(found[i]);
    }
    for (std::size_t i = 0; i < entrants.size(); ++i) entrants[i].ratio = mean_of(ratios[i]).value;
    std::ranges::stable_sort(entrants, {}, &Standing::ratio);
  }
  return {};
}

// Rested moments come before those without a pause, which leave the device warm.
Result<void> Elimination::race(std::vector<Finalist>& finalists) {
  std::vector<std::size_t> numbers;
  numbers.reserve(finalists.size());
  for (const Finalist& finalist : finalists) numbers.push_back(finalist.standing.entrant);
  for (std::size_t kind = 0; kind < kinds(); ++kind) {
    for (std::size_t i = 0; i < kFinalPlaces; ++i) {
      const Moment moment{next_place_++, track_.rests && kind == 0};
      TMA_JIT_ASSIGN(const std::vector<double> found, track_.race(numbers, moment));
      for (std::size_t j = 0; j < found.size(); ++j) finalists[j].ratios[kind].push_back(found[j]);
    }
  }
  for (Finalist& finalist : finalists) finalist.standing.ratio = mean_of_all(finalist).value;
  return {};
}

// The mean of the kinds' means, so that each has the same weight.
Mean Elimination::mean_of_all(const Finalist& finalist) const {
  const auto count = static_cast<double>(finalist.ratios.size());
  Mean all;
  double squares = 0;
  for (const std::vector<double>& ratios : finalist.ratios) {
    const Mean one = mean_of(ratios);
    all.value += one.value / count;
    squares += one.error * one.error;
  }
  all.error = std::sqrt(squares) / count;
  return all;
}

bool Elimination::may_win(const Finalist& finalist) const {
  const Mean all = mean_of_all(finalist);
  const double gain = 1 / all.value - 1;
  if (gain - kErrors * all.error < demands_.least_gain || gain <= 0) return false;
  return std::ranges::all_of(finalist.ratios, [](const std::vector<double>& ratios) {
    const Mean one = mean_of(ratios);
    return one.value <= 1 + one.error;
  });
}

bool Elimination::cannot_win(const Finalist& finalist) const {
  const auto exceeds = [](const Mean& mean, double bound) { return mean.value - kErrors * mean.error > bound; };
  return exceeds(mean_of_all(finalist), 1 / (1 + demands_.least_gain)) ||
         std::ranges::any_of(finalist.ratios, [&](const auto& ratios) { return exceeds(mean_of(ratios), 1); });
}

bool Elimination::is_precise(const Finalist& finalist) const {
  return mean_of_all(finalist).error <= demands_.relative_error;
}

bool Elimination::settled(std::span<const Finalist> finalists) const {
  return std::ranges::all_of(finalists, [this](const Finalist& one) { return is_precise(one) || cannot_win(one); });
}

bool Elimination::is_clear(std::span<const Finalist> finalists) const {
  double best = 0;  // the ratio of the fastest that may be chosen; 0: none may
  for (const Finalist& one : finalists) {
    if (may_win(one) && (best == 0 || one.standing.ratio < best)) best = one.standing.ratio;
  }
  return std::ranges::all_of(finalists, [&](const Finalist& one) {
    return cannot_win(one) || (is_precise(one) && best != 0 && one.standing.ratio >= best);
  });
}

std::size_t Elimination::least_launches(std::size_t entrants, bool rests, std::size_t thoroughness) {
  std::size_t launches = 0;
  while (entrants > kFinalists) {
    entrants = std::max(kFinalists, (entrants + 1) / 2);
    launches += (1 + entrants) * kHalfPlaces * thoroughness;
  }
  return launches + (1 + entrants) * kFinalPlaces * (rests ? 2 : 1);
}

// The choice first, then what else may win, the fastest first in each part.
void Elimination::order(std::vector<Finalist>& finalists) const {
  std::ranges::stable_sort(finalists, {},
                           [this](const Finalist& one) { return std::pair(!may_win(one), one.standing.ratio); });
  const auto alike = std::ranges::find_if(finalists, [&](const Finalist& one) {
    return !may_win(one) || one.standing.ratio > finalists.front().standing.ratio + kAlike;
  });
  const auto chosen = std::min_element(finalists.begin(), alike, [](const Finalist& a, const Finalist& b) {
    return a.standing.entrant < b.standing.entrant;
  });
  if (chosen != alike) std::rotate(finalists.begin(), chosen, chosen + 1);
}

Result<Decision> Elimination::run(std::vector<Standing> entrants) {
  TMA_JIT_CHECK(halve(entrants));
  std::vector<Finalist> finalists;
  finalists.reserve(entrants.size());
  for (const Standing& entrant : entrants) finalists.push_back({entrant, std::vector<std::vector<double>>(kinds())});
  Decision decision;
  do {
    TMA_JIT_CHECK(race(finalists));
    decision.places += kFinalPlaces * kinds();
  } while (!is_clear(finalists) && decision.places < demands_.most_places && !track_.over());
  decision.settled = settled(finalists);
  order(finalists);
  decision.changed = !finalists.empty() && may_win(finalists.front());
  for (const Finalist& finalist : finalists) decision.finalists.push_back(finalist.standing);
  return decision;
}

}  // namespace tma_jit::tuning
