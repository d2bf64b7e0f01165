// The pipeline's values as JSON: one object each, with the fields that docs/cli.md documents. Bytes that are not valid
// UTF-8 (in a file name or a compiler log) are replaced.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <tma_jit/artifact.h>
#include <tma_jit/cache.h>
#include <tma_jit/device_info.h>
#include <tma_jit/engine.h>
#include <tma_jit/estimate.h>
#include <tma_jit/plan.h>
#include <tma_jit/tuning.h>
#include <tma_jit/warm_list.h>

namespace tma_jit {

TMA_JIT_API std::string json_of(const Plan& plan);
TMA_JIT_API std::string json_of(const Enumeration& enumeration);
TMA_JIT_API std::string json_of(const Artifact& artifact);
TMA_JIT_API std::string json_of(const DeviceInfo& device);
TMA_JIT_API std::string json_of(const KernelInfo& kernel);
TMA_JIT_API std::string json_of(const Environment& environment);
TMA_JIT_API std::string json_of(const Stats& stats);
TMA_JIT_API std::string json_of(const CacheEntryInfo& entry);
TMA_JIT_API std::string json_of(const CacheExplanation& explanation);
TMA_JIT_API std::string json_of(const TuneResult& result);
TMA_JIT_API std::string json_of(const Proof& proof);
TMA_JIT_API std::string json_of(const Estimate& estimate);
TMA_JIT_API std::string json_of(const Error& error);

// Returns the plan that json_of wrote, for Engine::load; `scalars` replaces the values of the scalars that it names. No
// other stage takes this plan, because the JSON has neither the template's text nor its constants and hooks.
[[nodiscard]] TMA_JIT_API Result<Plan> parse_plan(std::string_view json,
                                                  const std::map<std::string, Scalar>& scalars = {});

}  // namespace tma_jit
