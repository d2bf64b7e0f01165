// What the parts of `tma-jit cache` share.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tma_jit/cache.h>

#include "verbs.h"

namespace tma_jit::cli {

// The arguments of one action; each uses those that it declared.
struct CacheWords {
  std::string file;  // a pack, or a key's file name
  std::string key;
  std::string output;
  std::string sign;
  bool oci = false;
  std::vector<std::string> pack_keys;
  std::uint64_t bytes = 0, entries = 50'000;
};

std::filesystem::path cache_root(const Settings& settings);
// Fails if there is no such file, or if it is an OCI layout, in which the pack lies.
[[nodiscard]] Outcome<void> check_pack(const std::string& file);
// Returns the pack that was given, else the cache folder.
[[nodiscard]] Outcome<std::filesystem::path> cache_place(const Settings& settings, const CacheWords& words);
std::vector<std::filesystem::path> pack_keys(const CacheWords& words);

// One action of `cache`; `declare` adds its own arguments.
using CacheAction = Outcome<int> (*)(const Settings& settings, const CacheWords& words);
Verb add_cache_action(Verb cache, Settings& settings, const char* name, const char* help, CacheAction action,
                      const std::function<void(Verb, CacheWords&)>& declare);

void add_cache_entries(Verb cache, Settings& settings);  // ls, show, extract
void add_cache_packs(Verb cache, Settings& settings);    // pack, unpack, keygen
void add_cache_explain(Verb cache, Settings& settings);
void add_cache_remote(Verb cache, Settings& settings);  // push, pull
// `stat` of the server that --remote names.
[[nodiscard]] Outcome<int> remote_cache_stat(const Settings& settings);

}  // namespace tma_jit::cli
