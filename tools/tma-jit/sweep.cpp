#include "sweep.h"

#include <algorithm>

#include "text.h"

namespace tma_jit::cli {
namespace {

constexpr std::size_t kMostSteps = 1000;

}  // namespace

Outcome<Sweep> read_sweep(const std::string& word) {
  const auto wrong = [&] {
    return usage("--sweep {}: it is not NAME=FIRST..LAST or NAME=FIRST..LAST:STEP, of integers from 1 on", word);
  };
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return wrong();
  Sweep sweep{split_commas(std::string_view(word).substr(0, equals)), {}};
  if (!std::ranges::all_of(sweep.names, [](const std::string& name) { return is_identifier(name); })) return wrong();
  const std::string_view range = std::string_view(word).substr(equals + 1);
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) return wrong();
  const std::size_t colon = range.find(':', dots);
  const bool linear = colon != std::string_view::npos;
  const auto first = integer_in(range.substr(0, dots));
  const auto last = integer_in(range.substr(dots + 2, linear ? colon - dots - 2 : colon));
  const auto step = linear ? integer_in(range.substr(colon + 1)) : std::optional<std::int64_t>(0);
  if (!first || !last || !step || *first < 1 || *last < *first || (linear && *step < 1)) return wrong();
  for (std::int64_t value = *first;; value += linear ? *step : value) {
    sweep.values.push_back(value);
    if (sweep.values.size() > kMostSteps) return usage("--sweep {}: it has more than {} steps", word, kMostSteps);
    if ((linear ? *step : value) > *last - value) return sweep;
  }
}

}  // namespace tma_jit::cli
