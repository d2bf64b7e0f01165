// What two records of one problem have in common.
#pragma once

#include <string>

#include <tma_jit/tuning.h>

namespace tma_jit::tuning {

// Equal for records of one problem on one model of device: kernel, types, dims, hooks, device and its SMs.
[[nodiscard]] std::string problem_key(const TuningRecord& record);
// The same less the dims: what the nearest record is looked for among.
[[nodiscard]] std::string family_key(const TuningRecord& record);

// The problem of a plan: a record without a choice.
[[nodiscard]] TuningRecord problem_of(const Plan& plan, const DeviceInfo& device);
// A template's text as a record names it.
[[nodiscard]] std::string digest_of(std::string_view text);

}  // namespace tma_jit::tuning
