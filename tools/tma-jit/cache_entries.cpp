// tma-jit cache ls, show, extract: single entries, of the cache folder or of a pack.
#include <algorithm>
#include <ctime>

#include "cache.h"
#include "output_file.h"
#include "text.h"

namespace tma_jit::cli {
namespace {

constexpr std::size_t kShownDigits = 16;

std::string date_of(std::int64_t seconds) {
  if (seconds == 0) return "-";
  const std::time_t time = seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

// Combines the lines of an entry's metadata into one object: what the library reads, and the inputs of the key.
Json metadata_of(const CacheEntryInfo& entry) {
  const std::size_t line = entry.metadata.find('\n');
  Json object = try_parse_json(entry.metadata.substr(0, line));
  if (!object.is_object()) object = Json::object();
  if (line == std::string::npos) return object;
  const Json tools = try_parse_json(entry.metadata.substr(line + 1));
  if (tools.is_object() && tools.contains("key")) object["made_of"] = tools["key"];
  return object;
}

Outcome<int> list(const Settings& settings, const CacheWords& words) {
  CLI_ASSIGN(const auto place, cache_place(settings, words));
  CLI_ASSIGN(const auto entries, cache_verify(place));
  std::size_t columns = 0;
  for (const CacheEntryInfo& entry : entries) columns = std::max(columns, entry.kernel.size());
  Json objects = Json::array();
  for (const CacheEntryInfo& entry : entries) {
    settings.console.result("{}  {:<{}} {:<8} {:>9}  {}{}\n", entry.key.substr(0, kShownDigits), entry.kernel, columns,
                            entry.arch, readable_bytes(entry.bytes), date_of(entry.used_s),
                            entry.fault.empty() ? "" : "  " + entry.fault);
    objects.push_back({{"key", entry.key},
                       {"kernel", entry.kernel},
                       {"arch", entry.arch},
                       {"bytes", entry.bytes},
                       {"used_s", entry.used_s},
                       {"fault", entry.fault}});
  }
  settings.console.object({{"root", place.string()}, {"entries", objects}});
  return kDone;
}

Outcome<int> show(const Settings& settings, const CacheWords& words) {
  CLI_ASSIGN(const auto place, cache_place(settings, words));
  CLI_ASSIGN(const CacheEntry entry, cache_read(place, words.key));
  const Json metadata = metadata_of(entry.info);
  settings.console.result("key        {}\nfile       {}\ncubin      {}\nused       {}\n", entry.info.key,
                          readable_bytes(entry.info.bytes), readable_bytes(entry.cubin.size()),
                          date_of(entry.info.used_s));
  for (const auto& [name, value] : metadata.items()) {
    if (name != "made_of")
      settings.console.result("{:<10} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  settings.console.object({{"key", entry.info.key},
                           {"bytes", entry.info.bytes},
                           {"cubin_bytes", entry.cubin.size()},
                           {"used_s", entry.info.used_s},
                           {"metadata", metadata}});
  return kDone;
}

Outcome<int> extract(const Settings& settings, const CacheWords& words) {
  CLI_ASSIGN(const auto place, cache_place(settings, words));
  CLI_ASSIGN(const CacheEntry entry, cache_read(place, words.key));
  CLI_CHECK(write_bytes(words.output, {}, entry.cubin));
  settings.console.report("wrote {} of {} for {} to {}\n", readable_bytes(entry.cubin.size()), entry.info.kernel,
                          entry.info.arch, words.output);
  settings.console.object({{"key", entry.info.key}, {"cubin_bytes", entry.cubin.size()}, {"output", words.output}});
  return kDone;
}

}  // namespace

void add_cache_entries(Verb cache, Settings& settings) {
  add_cache_action(
      cache, settings, "ls", "every entry: key, kernel, target, size, when it was last used", list,
      [](Verb action, CacheWords& words) { action.option("pack", words.file, "a pack instead of the cache folder"); });
  const auto one_entry = [](Verb action, CacheWords& words) {
    action.option("key", words.key, "the key, or how it begins").required();
    action.option("--pack", words.file, "a pack instead of the cache folder");
  };
  add_cache_action(cache, settings, "show", "what is known of one entry", show, one_entry);
  add_cache_action(cache, settings, "extract", "the cubin of one entry as a file", extract,
                   [&](Verb action, CacheWords& words) {
                     one_entry(action, words);
                     action.option("-o,--output", words.output, "file to write the cubin to").required();
                   });
}

}  // namespace tma_jit::cli
