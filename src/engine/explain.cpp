// Explains why a kernel is not in the cache: finds the most similar entry and lists the differences.
#include <chrono>
#include <map>

#include "core/failure.h"
#include "engine/builder.h"
#include "engine/entry_fields.h"
#include "engine/state.h"
#include "source/key.h"

namespace tma_jit {
namespace {

using engine::Fields;

// Returns the differences in the order of `here`, then fields that only the entry has.
std::vector<CacheDifference> differences(const Fields& here, const Fields& there) {
  std::map<std::string, std::string> others;
  for (const source::KeyField& field : there) others[field.name] = field.value;
  std::vector<CacheDifference> found;
  for (const source::KeyField& field : here) {
    const auto other = others.find(field.name);
    if (other == others.end() || other->second != field.value)
      found.push_back({field.name, field.value, other == others.end() ? "" : other->second});
    if (other != others.end()) others.erase(other);
  }
  for (const auto& [name, value] : others) found.push_back({name, "", value});
  return found;
}

// Describes the first of the nearest entries that can be read.
void describe(const cache::Nearest& nearest, const Fields& here, CacheExplanation& explanation) {
  for (const cache::Near& near : nearest.entries) {
    const cache::Lookup lookup = near.layer->get(near.key);
    const Fields there = lookup.entry ? engine::fields_in(lookup.entry->metadata) : Fields();
    if (there.empty()) continue;
    explanation.nearest = near.key.hex();
    explanation.differences = differences(here, there);
    return;
  }
}

}  // namespace

// Returns NVRTC's identity; without NVRTC, that of the compiler that used the cache last; empty if there is none.
std::string engine::Builder::likely_identity() {
  auto found = compiler_.location();
  if (found) return found->identity;
  const auto recorded = cache_ ? cache_->compilers() : std::vector<std::string>();
  return recorded.empty() ? std::string() : recorded.front();
}

engine::Builder::Explained engine::Builder::explain(const Source& source, const std::string& identity,
                                                    std::chrono::steady_clock::time_point until) {
  Explained result;
  CacheExplanation& explanation = result.explanation;
  explanation.key = source::key_of(source, identity);
  const cache::Lookup lookup = cache_->get(explanation.key);
  explanation.found = lookup.entry.has_value();
  explanation.where = lookup.from;
  explanation.fault = lookup.detail;
  if (explanation.found) return result;
  const Fields here = source::key_fields(source, identity);
  const cache::Nearest nearest = cache_->nearest({marks_of(source.kernel, here), marks_in, until});
  result.complete = nearest.complete;
  describe(nearest, here, explanation);
  return result;
}

Result<CacheExplanation> engine::Builder::explain(const Source& source) {
  if (!cache_) return failure(ErrorCode::invalid_argument, "the cache is off");
  const std::string identity = likely_identity();
  if (identity.empty()) {
    TMA_JIT_CHECK(compiler_.location());
  }
  return explain(source, identity, std::chrono::steady_clock::time_point::max()).explanation;
}

// Describes, one per line, the differences to the most similar cached kernel, as far as a quarter of a second allows.
std::string engine::Builder::differences(const Source& source, const std::string& identity) {
  if (!cache_) return "the cache is off";
  const auto [found, complete] = explain(source, identity, std::chrono::steady_clock::now() + kExplainingMax);
  const std::string root = settings_.cache.root.string();
  std::string text = found.nearest.empty()
                         ? fmt::format("the cache {} has no entry of {}", root, source.kernel)
                         : fmt::format("the nearest entry of the cache {} is {}", root, found.nearest);
  for (const CacheDifference& difference : found.differences) {
    text += fmt::format("\n{}: {} here, {} there", difference.field, difference.here, difference.there);
  }
  if (!complete) text += "\nnot all entries were looked at: that would have taken longer than this call may wait";
  return text;
}

Result<CacheExplanation> Engine::explain(const Plan& plan) {
  TMA_JIT_ASSIGN(const Source source, emit(plan));
  return state_->builder.explain(source);
}

}  // namespace tma_jit
