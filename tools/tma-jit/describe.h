// Plans, cubins and devices as text for display and as JSON objects.
#pragma once

#include <string>

#include <fmt/format.h>

#include <tma_jit/engine.h>

#include "console.h"

namespace tma_jit::cli {

// Returns e.g. "M=64 N=64" for a map or a list of pairs.
template <class Values> std::string value_words(const Values& values) {
  std::string words;
  for (const auto& [name, value] : values) words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, value);
  return words;
}

// Return e.g. "BM=128 BN=256 STAGES=4", "M=64 N=64", "T=bf16 O=f32".
std::string config_words(const Plan& plan);
std::string dim_words(const Plan& plan);
std::string type_words(const Plan& plan);

// Returns the line of a report with the reason of a plan, "" if it has none.
std::string because_line(const Plan& plan);

std::string describe(const Plan& plan);
std::string describe(const Artifact& artifact, const Plan& plan);

Json to_json(const DeviceInfo& device);
Json to_json(const Plan& plan);
// Returns key, compiled, compile_ms, registers, spills, stack and shared memory, warnings.
Json to_json(const Artifact& artifact, const Plan& plan);
// Adds the fields of `more` to `object`.
void merge(Json& object, const Json& more);

}  // namespace tma_jit::cli
