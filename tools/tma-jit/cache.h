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
  std::vector<std::string> pack_keys;
  std::uint64_t bytes = 0, entries = 50'000;
};

std::filesystem::path cache_root(const Settings& settings);
// Returns the pack that was given, else the cache folder.
std::filesystem::path cache_place(const Settings& settings, const CacheWords& words);
std::vector<std::filesystem::path> pack_keys(const CacheWords& words);

// One action of `cache`; `declare` adds its own arguments.
using CacheAction = Outcome<int> (*)(const Settings& settings, const CacheWords& words);
CLI::App& add_cache_action(CLI::App& cache, Invocation& invocation, const char* name, const char* help,
                           CacheAction action, const std::function<void(CLI::App&, CacheWords&)>& declare);

void add_cache_entries(CLI::App& cache, Invocation& invocation);  // ls, show, extract
void add_cache_packs(CLI::App& cache, Invocation& invocation);    // pack, unpack, keygen
void add_cache_explain(CLI::App& cache, Invocation& invocation);

}  // namespace tma_jit::cli
