#include "sweep.h"

#include "text.h"

namespace tma_jit::cli {
namespace {

constexpr std::size_t kMostSteps = 1000;

}  // namespace

Outcome<Sweep> read_sweep(const std::string& word) {
  CLI_ASSIGN(const Pair pair, split_pair(word, "--sweep"));
  const auto wrong = [&] {
    return usage("--sweep {}: it is not NAME=FIRST..LAST or NAME=FIRST..LAST:STEP, of integers from 1 on", word);
  };
  const std::string_view range = pair.value;
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) return wrong();
  const std::size_t colon = range.find(':', dots);
  const bool linear = colon != std::string_view::npos;
  const auto first = integer_in(range.substr(0, dots));
  const auto last = integer_in(range.substr(dots + 2, linear ? colon - dots - 2 : colon));
  const auto step = linear ? integer_in(range.substr(colon + 1)) : std::optional<std::int64_t>(0);
  if (!first || !last || !step || *first < 1 || *last < *first || (linear && *step < 1)) return wrong();
  Sweep sweep{split_commas(pair.name), {}};
  for (std::int64_t value = *first;; value += linear ? *step : value) {
    sweep.values.push_back(value);
    if (sweep.values.size() > kMostSteps) return usage("--sweep {}: it has more than {} steps", word, kMostSteps);
    if ((linear ? *step : value) > *last - value) return sweep;
  }
}

}  // namespace tma_jit::cli
