// The keys by which tuning records of the same problem are found.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tma_jit/artifact.h>
#include <tma_jit/tuning.h>

namespace tma_jit::tuning {

// Returns whether two records are of one problem on one model of device: kernel, types, dims, hooks, pinned params,
// conditions, device and number of SMs.
[[nodiscard]] bool same_problem(const TuningRecord& a, const TuningRecord& b);
// Returns the same without the dims: the records among which the nearest one is searched.
[[nodiscard]] bool same_family(const TuningRecord& a, const TuningRecord& b);
// Returns whether two names of devices are of one model.
[[nodiscard]] bool same_model(std::string_view a, std::string_view b);
// Returns whether they are of one model of device and one number of SMs.
[[nodiscard]] bool same_device(const TuningRecord& a, const TuningRecord& b);
// Returns a text that is equal for records of one problem.
[[nodiscard]] std::string problem_key(const TuningRecord& record);

// Returns the problem of a plan as a record without a choice; `conditions` are those of its request (conditions_of).
[[nodiscard]] TuningRecord problem_of(const Plan& plan, const DeviceInfo& device, std::string conditions = {});
// Returns the digest of hooks by their names and texts; empty if there are none.
[[nodiscard]] std::string digest_of(const std::vector<Hook>& hooks);
// Returns 16 hex digits of a text's SHA-256.
[[nodiscard]] std::string short_digest(std::string_view text);

struct TemplateTexts {
  std::string_view file;  // its name
  std::string_view body;  // its text
  std::string_view used;  // the texts of the headers whose declarations it uses
  std::span<const Header> headers;
};
// Returns the digest by which a record identifies a template: of what its text, what it uses and what it includes say,
// whatever their comments.
[[nodiscard]] std::string digest_of(const TemplateTexts& texts);
// The same for the template of a plan; `source` is the plan's.
[[nodiscard]] std::string digest_of(const Plan& plan, const Source& source);

}  // namespace tma_jit::tuning
