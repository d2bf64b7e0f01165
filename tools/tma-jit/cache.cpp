// tma-jit cache: the cache folder counted, verified or cleared.
#include "text.h"
#include "verbs.h"

#include <tma_jit/cache.h>

namespace tma_jit::cli {
namespace {

std::filesystem::path root_of(const Settings& settings) {
  return settings.cache_dir.empty() ? default_cache_dir() : std::filesystem::path(settings.cache_dir);
}

Outcome<int> stat(const Settings& settings) {
  CLI_ASSIGN(const CacheSummary summary, cache_stat(root_of(settings)));
  settings.console.report("{}\n  entries   {}, {}\n  faulty    {}\n  temporary {}\n", summary.root.string(),
                          summary.entries, readable_bytes(summary.bytes), summary.faulty, summary.temporary_files);
  settings.console.object({{"root", summary.root.string()},
                           {"entries", summary.entries},
                           {"bytes", summary.bytes},
                           {"faulty", summary.faulty},
                           {"temporary_files", summary.temporary_files}});
  return kDone;
}

Outcome<int> verify(const Settings& settings) {
  CLI_ASSIGN(const std::vector<CacheEntryInfo> entries, cache_verify(root_of(settings)));
  std::size_t faulty = 0;
  Json objects = Json::array();
  for (const CacheEntryInfo& entry : entries) {
    faulty += entry.fault.empty() ? 0 : 1;
    if (!entry.fault.empty()) settings.console.result("{}  {}\n", entry.key, entry.fault);
    objects.push_back({{"key", entry.key},
                       {"kernel", entry.kernel},
                       {"arch", entry.arch},
                       {"bytes", entry.bytes},
                       {"fault", entry.fault}});
  }
  settings.console.report("{} of {} entries are sound\n", entries.size() - faulty, entries.size());
  settings.console.object({{"root", root_of(settings).string()}, {"faulty", faulty}, {"entries", objects}});
  return faulty == 0 ? kDone : kFailed;
}

Outcome<int> clear(const Settings& settings) {
  CLI_ASSIGN(const std::uint64_t removed, cache_clear(root_of(settings)));
  settings.console.report("removed {} files from {}\n", removed, root_of(settings).string());
  settings.console.object({{"root", root_of(settings).string()}, {"removed", removed}});
  return kDone;
}

void add_action(CLI::App& cache, const char* name, const char* help, Invocation& invocation,
                Outcome<int> (*action)(const Settings&)) {
  CLI::App* verb = cache.add_subcommand(name, help);
  add_console_options(*verb, invocation.settings);
  verb->add_option("--cache-dir", invocation.settings.cache_dir,
                   "cache folder instead of TMA_JIT_CACHE_DIR or the user's");
  verb->callback(
      [&invocation, action] { invocation.run = [&invocation, action] { return action(invocation.settings); }; });
}

}  // namespace

void add_cache(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand("cache", "the cache folder: stat, verify, clear");
  verb->require_subcommand(1);
  add_action(*verb, "stat", "how many entries, how large, how many unusable", invocation, stat);
  add_action(*verb, "verify", "read every entry whole; faulty ones are listed, none is removed", invocation, verify);
  add_action(*verb, "clear", "remove every entry", invocation, clear);
}

}  // namespace tma_jit::cli
