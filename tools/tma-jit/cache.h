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

// The words of one action; each uses those it declared.
struct CacheWords {
  std::string file;  // a pack, or a key's name
  std::string key;
  std::string output;
  std::string sign;
  std::vector<std::string> pack_keys;
  std::uint64_t bytes = 0, entries = 50'000;
};

std::filesystem::path cache_root(const Settings& settings);
// The pack that was named, else the cache folder.
std::filesystem::path cache_place(const Settings& settings, const CacheWords& words);
std::vector<std::filesystem::path> pack_keys(const CacheWords& words);

// One action below `cache`: `declare` adds its own words.
using CacheAction = Outcome<int> (*)(const Settings& settings, const CacheWords& words);
CLI::App& add_cache_action(CLI::App& cache, Invocation& invocation, const char* name, const char* help,
                           CacheAction action, const std::function<void(CLI::App&, CacheWords&)>& declare);

void add_cache_entries(CLI::App& cache, Invocation& invocation);  // ls, show, extract
void add_cache_packs(CLI::App& cache, Invocation& invocation);    // pack, unpack, keygen
void add_cache_explain(CLI::App& cache, Invocation& invocation);

}  // namespace tma_jit::cli
