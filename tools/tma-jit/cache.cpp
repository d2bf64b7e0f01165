// tma-jit cache: counts, verifies, trims or clears the cache folder.
#include "cache.h"

#include "text.h"

namespace tma_jit::cli {
namespace {

Outcome<int> stat(const Settings& settings, const CacheWords&) {
  if (!settings.remote.empty()) return remote_cache_stat(settings);
  CLI_ASSIGN(const CacheSummary summary, cache_stat(cache_root(settings)));
  settings.console.report("{}\n  entries   {}, {}\n  faulty    {}\n  temporary {}\n", summary.root.string(),
                          summary.entries, readable_bytes(summary.bytes), summary.faulty, summary.temporary_files);
  settings.console.object({{"root", summary.root.string()},
                           {"entries", summary.entries},
                           {"bytes", summary.bytes},
                           {"faulty", summary.faulty},
                           {"temporary_files", summary.temporary_files}});
  return kDone;
}

Outcome<int> verify(const Settings& settings, const CacheWords& words) {
  if (!words.pack_keys.empty() && words.file.empty())
    return usage("--pack-key {}: name the pack that it must have signed", words.pack_keys.front());
  CLI_ASSIGN(const auto place, cache_place(settings, words));
  if (!words.pack_keys.empty() && std::filesystem::is_directory(place))
    return usage("--pack-key {}: {} is a folder, and only a pack is signed", words.pack_keys.front(), place.string());
  CLI_ASSIGN(const std::vector<CacheEntryInfo> entries, cache_verify(place, pack_keys(words)));
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
  settings.console.object({{"root", place.string()}, {"faulty", faulty}, {"entries", objects}});
  return faulty == 0 ? kDone : kFailed;
}

Outcome<int> trim(const Settings& settings, const CacheWords& words) {
  CLI_ASSIGN(const CacheTrimmed trimmed, cache_trim(cache_root(settings), words.bytes, words.entries));
  settings.console.report("removed {} of {} entries, {} of {}, and {} temporary files from {}\n", trimmed.removed,
                          trimmed.entries, readable_bytes(trimmed.removed_bytes), readable_bytes(trimmed.bytes),
                          trimmed.temporary_files, cache_root(settings).string());
  settings.console.object({{"root", cache_root(settings).string()},
                           {"entries", trimmed.entries},
                           {"bytes", trimmed.bytes},
                           {"removed", trimmed.removed},
                           {"removed_bytes", trimmed.removed_bytes},
                           {"temporary_files", trimmed.temporary_files}});
  return kDone;
}

Outcome<int> clear(const Settings& settings, const CacheWords&) {
  CLI_ASSIGN(const std::uint64_t removed, cache_clear(cache_root(settings)));
  settings.console.report("removed {} files from {}\n", removed, cache_root(settings).string());
  settings.console.object({{"root", cache_root(settings).string()}, {"removed", removed}});
  return kDone;
}

}  // namespace

std::filesystem::path cache_root(const Settings& settings) {
  return settings.cache_dir.empty() ? default_cache_dir() : std::filesystem::path(settings.cache_dir);
}

Outcome<std::filesystem::path> cache_place(const Settings& settings, const CacheWords& words) {
  if (words.file.empty()) return cache_root(settings);
  CLI_CHECK(check_pack(words.file));
  return words.file;
}

Outcome<void> check_pack(const std::string& file) {
  std::error_code ignored;
  const std::filesystem::path pack = file;
  if (!std::filesystem::exists(pack, ignored)) return failed(ErrorCode::io, "pack {}: no such file", file);
  if (!std::filesystem::exists(pack / "oci-layout", ignored)) return {};
  return usage("pack {0}: it is an OCI layout; name the pack in it, which is the largest file of {0}/blobs/sha256",
               file);
}

std::vector<std::filesystem::path> pack_keys(const CacheWords& words) {
  return {words.pack_keys.begin(), words.pack_keys.end()};
}

Verb add_cache_action(Verb cache, Settings& settings, const char* name, const char* help, CacheAction action,
                      const std::function<void(Verb, CacheWords&)>& declare) {
  Verb verb = cache.add_verb(name, help);
  add_console_options(verb, settings);
  verb.option("--cache-dir", settings.cache_dir, "cache folder instead of TMA_JIT_CACHE_DIR or the user's");
  auto words = std::make_shared<CacheWords>();
  declare(verb, *words);
  verb.runs([&settings, action, words] { return action(settings, *words); });
  return verb;
}

void add_cache(Verb command, Settings& settings) {
  Verb verb = command.add_verb(
      "cache", "the cache folder, packs and a server: count, check, list, trim, push, pull, explain a miss");
  const auto nothing = [](Verb, CacheWords&) {};
  add_cache_action(verb, settings, "stat", "how many entries, how large, how many unusable", stat,
                   [&](Verb action, CacheWords&) { add_remote(action, settings); });
  add_cache_action(verb, settings, "verify", "read every entry whole; faulty ones are listed, none is removed", verify,
                   [](Verb action, CacheWords& words) {
                     action.option("pack", words.file, "a pack to verify instead of the cache folder");
                     action.repeated("--pack-key", words.pack_keys, "public key that must have signed the pack");
                   });
  add_cache_explain(verb, settings);
  add_cache_entries(verb, settings);
  add_cache_packs(verb, settings);
  add_cache_remote(verb, settings);
  add_cache_action(verb, settings, "trim", "remove the entries used longest ago", trim,
                   [](Verb action, CacheWords& words) {
                     action.option("--max-size", words.bytes, "bytes to keep: 500M, 2G").required().size_in_bytes();
                     action.option("--max-entries", words.entries, "entries to keep").shows_default();
                   });
  add_cache_action(verb, settings, "clear", "remove every entry", clear, nothing);
}

}  // namespace tma_jit::cli
