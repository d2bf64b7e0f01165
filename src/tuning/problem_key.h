// The keys by which tuning records of the same problem are found.
#pragma once

#include <string>

#include <tma_jit/artifact.h>
#include <tma_jit/tuning.h>

namespace tma_jit::tuning {

// Returns whether two records are of one problem on one model of device: kernel, types, dims, hooks, device and number
// of SMs.
[[nodiscard]] bool same_problem(const TuningRecord& a, const TuningRecord& b);
// Returns the same without the dims: the records among which the nearest one is searched.
[[nodiscard]] bool same_family(const TuningRecord& a, const TuningRecord& b);
// Returns a text that is equal for records of one problem.
[[nodiscard]] std::string problem_key(const TuningRecord& record);

// Returns the problem of a plan as a record without a choice.
[[nodiscard]] TuningRecord problem_of(const Plan& plan, const DeviceInfo& device);
// Returns the digest of hooks by their names and texts; empty if there are none.
[[nodiscard]] std::string digest_of(const std::vector<Hook>& hooks);
// Returns the digest by which a record identifies a template: of its text, of what it uses and of what it includes.
// `source` is the plan's.
[[nodiscard]] std::string digest_of(const Plan& plan, const Source& source);

}  // namespace tma_jit::tuning
