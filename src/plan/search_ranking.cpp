// Which configurations of a file are most worth measuring. Unlike the search for one, this looks at all of them.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>

#include "core/failure.h"
#include "plan/search.h"

namespace tma_jit::plan {

void Search::add_if_valid(std::vector<Ranked>& ranked, std::vector<std::int64_t> params) {
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (std::ranges::find(choices_[i], params[i]) == choices_[i].end()) return;
  }
  if (std::ranges::any_of(ranked, [&](const Ranked& other) { return other.params == params; })) return;
  if (take(params)) ranked.push_back({std::move(params), cycles()});
}

// Evaluates every configuration that is not ranked yet and keeps one for each estimate, because otherwise params that
// the estimate ignores (the order of tiles, for example) would fill the list with nearly equal configurations.
Search::ByCycles Search::cheapest(const std::vector<Ranked>& ranked, std::size_t most) {
  ByCycles cheapest;
  for (bool found = find_valid(); found; found = next() && find_valid()) {
    apply();
    if (avoided()) continue;
    const std::int64_t estimate = cycles();
    if (cheapest.size() >= most && estimate >= cheapest.rbegin()->first) continue;
    if (std::ranges::find(ranked, values_.params(), &Ranked::params) != ranked.end()) continue;
    cheapest.try_emplace(estimate, values_.params());
    if (cheapest.size() > most) cheapest.erase(std::prev(cheapest.end()));
  }
  return cheapest;
}

// Divides the values of the first param that has several among threads, whose results are put together in the values'
// order, so that the outcome is that of one thread: gemm_wgmma_split.cu alone has 400,000 configurations.
Result<void> Search::rank_by_cycles(std::vector<Ranked>& ranked, std::size_t most) {
  TMA_JIT_CHECK(prepare());
  const auto several =
      std::ranges::find_if(choices_, [](const std::vector<std::int64_t>& choices) { return choices.size() > 1; });
  std::vector<Search> parts(several != choices_.end() ? several->size() : 1, *this);
  for (std::size_t i = 0; i < parts.size() && several != choices_.end(); ++i) {
    parts[i].choices_[static_cast<std::size_t>(several - choices_.begin())] = {(*several)[i]};
  }
  std::atomic<std::size_t> begun = 0;
  std::vector<ByCycles> found(parts.size());
  const auto work = [&] {
    for (std::size_t i = begun++; i < parts.size(); i = begun++) {
      if (parts[i].prepare()) found[i] = parts[i].cheapest(ranked, most);
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t most_threads = std::min<std::size_t>(parts.size(), std::thread::hardware_concurrency());
    while (threads.size() + 1 < most_threads) threads.emplace_back(work);
    work();
  }
  ByCycles all;
  for (ByCycles& some : found) all.merge(some);
  std::size_t kept = 0;
  for (auto& [estimate, params] : all) {
    if (kept++ == most) break;
    if (estimate != ranked.front().cycles) ranked.push_back({std::move(params), estimate});
  }
  return {};
}

void Search::rank_presets(std::vector<Ranked>& ranked) {
  for (const templates::Preset& preset : binding_.kernel->presets) {
    if (!take_preset(preset)) continue;
    const std::vector<std::int64_t> params = values_.params();
    add_if_valid(ranked, params);
    const auto added = std::ranges::find(ranked, params, &Ranked::params);
    if (added != ranked.end()) added->preset = true;
  }
}

void Search::rank_near(std::vector<Ranked>& ranked, std::size_t most) {
  for (const templates::Preset& preset : binding_.kernel->presets) {
    if (ranked.size() < most) add_if_valid(ranked, params_of(preset));
  }
  const std::vector<std::int64_t> chosen = ranked.front().params;
  const auto vary = [&](const std::vector<std::int64_t>& from, std::size_t first, const auto& use) {
    for (std::size_t i = first; i < choices_.size(); ++i) {
      for (const std::int64_t value : choices_[i]) {
        if (ranked.size() >= most) return;
        if (value == from[i]) continue;
        std::vector<std::int64_t> params = from;
        params[i] = value;
        use(params, i + 1);
      }
    }
  };
  const auto add = [&](const std::vector<std::int64_t>& params, std::size_t) { add_if_valid(ranked, params); };
  vary(chosen, 0, add);
  vary(chosen, 0, [&](const std::vector<std::int64_t>& params, std::size_t next) { vary(params, next, add); });
}

// Leaves the params their values that say what is computed: those that no preset sets, and those that decide which
// tensors there are.
void Search::keep_problem(const std::vector<std::int64_t>& params) {
  const templates::Template& kernel = *binding_.kernel;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const bool tuned = std::ranges::any_of(kernel.presets, [&](const templates::Preset& preset) {
      return std::ranges::find(preset.settings, kernel.params[i].name, &templates::Preset::Setting::param) !=
             preset.settings.end();
    });
    if (!tuned && !kernel.presets.empty()) choices_[i] = {params[i]};
  }
  for (const std::size_t param : params_of_problem(*binding_.kernel)) choices_[param] = {params[param]};
}

Result<std::vector<Search::Ranked>> Search::rank(std::size_t most) {
  TMA_JIT_ASSIGN(const bool found, choose());
  std::vector<Ranked> ranked;
  if (!found || most == 0) return ranked;
  ranked.push_back({values_.params(), cycles()});
  keep_problem(ranked.front().params);
  if (binding_.kernel->work.cycles.has_value()) {
    rank_presets(ranked);
    TMA_JIT_CHECK(rank_by_cycles(ranked, most));
  } else {
    rank_near(ranked, most);
  }
  return ranked;
}

}  // namespace tma_jit::plan
