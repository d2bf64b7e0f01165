// tma-jit cache explain: whether a kernel is in the cache, and if not, how the nearest entry differs.
#include <algorithm>

#include "cache.h"
#include "request.h"

namespace tma_jit::cli {
namespace {

constexpr std::size_t kDifferencesShown = 10;

std::string shown(const std::string& value) {
  return value.empty() ? "(none)" : value;
}

void report(const Console& console, const CacheExplanation& found) {
  if (found.found) return console.result("in the cache: {} has {}\n", found.where, found.key.hex());
  console.result("not in the cache: {}\n", found.key.hex());
  if (!found.fault.empty()) console.result("  {}\n", found.fault);
  if (found.nearest.empty()) return console.result("  no entry of this kernel to compare with\n");
  console.result("  nearest is {}, which differs in {} of its parts\n", found.nearest, found.differences.size());
  const std::size_t count = std::min(found.differences.size(), kDifferencesShown);
  for (std::size_t i = 0; i < count; ++i) {
    const CacheDifference& difference = found.differences[i];
    console.result("    {:<20} {} here, {} there\n", difference.field, shown(difference.here), shown(difference.there));
  }
}

Outcome<int> explain(const Settings& settings, const RequestWords& words) {
  CLI_ASSIGN(Engine engine, make_engine(settings));
  CLI_ASSIGN(const KernelRequest asked, read_request(engine, words));
  CLI_ASSIGN(const Plan plan, engine.plan(asked.request));
  CLI_ASSIGN(const CacheExplanation found, engine.explain(plan));
  report(settings.console, found);
  Json differences = Json::array();
  for (const CacheDifference& difference : found.differences)
    differences.push_back({{"field", difference.field}, {"here", difference.here}, {"there", difference.there}});
  settings.console.object({{"key", found.key.hex()},
                           {"found", found.found},
                           {"where", found.where},
                           {"fault", found.fault},
                           {"nearest", found.nearest},
                           {"differences", differences}});
  return kDone;
}

}  // namespace

void add_cache_explain(Verb cache, Settings& settings) {
  Verb verb = cache.add_verb("explain", "whether a kernel is in the cache, and what differs if it is not");
  add_settings(verb, settings);
  auto words = std::make_shared<RequestWords>();
  add_request_options(verb, *words);
  verb.runs([&settings, words] { return explain(settings, *words); });
}

}  // namespace tma_jit::cli
