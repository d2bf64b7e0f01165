// Why a kernel is not in the cache: the entry that comes nearest, and what differs.
#include <algorithm>
#include <map>

#include <tma_jit/cache.h>
#include <nlohmann/json.hpp>

#include "base/failure.h"
#include "engine_build.h"
#include "engine_state.h"
#include "source/key.h"

namespace tma_jit {
namespace {

using Json = nlohmann::json;
using Fields = std::vector<emission::KeyField>;

// The second line of an entry's metadata; empty where a version that wrote none made it.
Fields fields_in(const std::string& metadata) {
  const std::size_t line = metadata.find('\n');
  if (line == std::string::npos) return {};
  const Json json = Json::parse(metadata.substr(line + 1), nullptr, false);
  Fields fields;
  if (!json.is_object() || !json.contains("key") || !json["key"].is_array()) return fields;
  for (const Json& pair : json["key"]) {
    if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string())
      fields.push_back({pair[0], pair[1]});
  }
  return fields;
}

// In the order of `here`; what only the entry has comes last.
std::vector<CacheDifference> differences(const Fields& here, const Fields& there) {
  std::map<std::string, std::string> others;
  for (const emission::KeyField& field : there) others[field.name] = field.value;
  std::vector<CacheDifference> found;
  for (const emission::KeyField& field : here) {
    const auto other = others.find(field.name);
    if (other == others.end() || other->second != field.value)
      found.push_back({field.name, field.value, other == others.end() ? "" : other->second});
    if (other != others.end()) others.erase(other);
  }
  for (const auto& [name, value] : others) found.push_back({name, "", value});
  return found;
}

// Fewest differences first; among equals the one used last.
void consider(const CacheEntryInfo& entry, const Fields& here, std::int64_t& used_s, CacheExplanation& best) {
  const Fields there = fields_in(entry.metadata);
  if (there.empty()) return;
  auto found = differences(here, there);
  if (!best.nearest.empty() &&
      (found.size() > best.differences.size() || (found.size() == best.differences.size() && entry.used_s <= used_s)))
    return;
  best.nearest = entry.key;
  best.differences = std::move(found);
  used_s = entry.used_s;
}

}  // namespace

// NVRTC's, or where there is none the one that filled the cache last.
Result<std::string> Builder::likely_identity() {
  auto found = compiler_.location();
  if (found) return found->identity;
  const auto recorded = cache_->compilers();
  if (recorded.empty()) return tl::make_unexpected(std::move(found).error());
  return recorded.front();
}

Result<CacheExplanation> Builder::explain(const Source& source) {
  if (!cache_) return failure(ErrorCode::invalid_argument, "the cache is off");
  TMA_JIT_ASSIGN(const std::string identity, likely_identity());
  CacheExplanation explanation;
  explanation.key = emission::key_of(source, identity);
  const cache::Lookup lookup = cache_->get(explanation.key);
  explanation.found = lookup.entry.has_value();
  explanation.where = lookup.from;
  explanation.fault = lookup.detail;
  if (explanation.found) return explanation;
  const Fields here = emission::key_fields(source, identity);
  std::vector<std::filesystem::path> places = settings_.cache.read_only;
  places.insert(places.begin(), settings_.cache.root);
  std::int64_t used_s = 0;
  for (const auto& place : places) {
    const auto entries = place.empty() ? Result<std::vector<CacheEntryInfo>>() : cache_verify(place);
    if (!entries) continue;  // reported when it was opened
    for (const CacheEntryInfo& entry : *entries) {
      if (entry.fault.empty() && entry.kernel == source.kernel) consider(entry, here, used_s, explanation);
    }
  }
  return explanation;
}

Result<CacheExplanation> Engine::explain(const Plan& plan) {
  TMA_JIT_ASSIGN(const Source source, emit(plan));
  return state_->builder.explain(source);
}

}  // namespace tma_jit
