// Turns a request into a plan. A pure function of its arguments; thread-safe.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/device_info.h>
#include <tma_jit/plan.h>
#include <tma_jit/request.h>

#include "template/template.h"

namespace tma_jit::plan {

// A configuration of a template file.
struct Configuration {
  std::string file;                                          // Plan::file
  std::vector<std::pair<std::string, std::int64_t>> params;  // Plan::config
  friend bool operator==(const Configuration&, const Configuration&) = default;
};
// Configurations that must not be chosen.
using Avoided = std::span<const Configuration>;

using TemplatePointers = std::span<const std::shared_ptr<const templates::Template>>;

// `templates` are the files that declare the request's kernel. Those that serve `device.arch` are tried in order: those
// of greater preference first, then by file stem. The first with a valid configuration is used. If none has one, the
// error gives the reason for each file.
[[nodiscard]] Result<Plan> make_plan(const Request& request, const DeviceInfo& device, TemplatePointers templates,
                                     Avoided avoided = {});

// Whether a no_config error counts what each rule excludes, which requires evaluating every configuration.
enum class Reasons : std::uint8_t { unsaid, said };

// The same for a single template, whether or not it serves the device.
[[nodiscard]] Result<Plan> plan_with(const templates::Template& kernel, const Request& request,
                                     const DeviceInfo& device, Reasons reasons, Avoided avoided = {});

// Returns whether `plan_with` makes a plan of a request that pins every param, for a device that the template serves.
// Takes less time.
[[nodiscard]] bool fits(const templates::Template& kernel, const Request& pinned, const DeviceInfo& device);

// Evaluates every configuration of the file that `make_plan` would choose; of the first file if none has a valid one.
[[nodiscard]] Result<Enumeration> enumerate(const Request& request, const DeviceInfo& device,
                                            TemplatePointers templates);

// Returns the tensors of a request that gives none, without addresses, as the first file has them that takes the
// request: packed, or padded for its tensor maps, whether or not a configuration is valid with these strides.
[[nodiscard]] Result<std::vector<NamedTensor>> tensors_of(const Request& request, const DeviceInfo& device,
                                                          TemplatePointers templates);

// Returns the configurations that are most worth measuring, at most `most`: first the one that `make_plan` chooses,
// then, of all files that serve the device, in turns one of all configurations and one preset, each with the fewest
// estimated cycles that are left, and last those of files without an estimate (Search::rank).
[[nodiscard]] Result<std::vector<Candidate>> rank(const Request& request, const DeviceInfo& device,
                                                  TemplatePointers templates, std::size_t most);

// Returns one request for the defaults and every preset of every file that serves the device, and for every choice of
// types for which it is valid: all params pinned, no tensors. Dims that are not in `dims` are 1024, or the nearest
// value in their range. A preset that is valid for no types occurs once, so that planning it reports the
// reason, unless it may be for other kernels or for requests that pin other params.
[[nodiscard]] Result<std::vector<Request>> preset_requests(const DeviceInfo& device, TemplatePointers templates,
                                                           const std::map<std::string, std::int64_t>& dims);

// Returns whether a template for `listed` serves the target: an equal one; for a plain "sm_90" also sm_90a and sm_90f;
// for a family "sm_100f" also the family's later targets, such as sm_103a.
bool serves(std::string_view listed, std::string_view target);
bool serves(const templates::Template& kernel, std::string_view target);

// Returns whether no tensor has elements of the type, so that the planner chooses it like a param. The outputs of a
// reference are f64 and do not count.
bool is_free(const templates::Template& kernel, const templates::Type& type, bool reference = false);

// Returns those of `templates` that serve the device, in the order in which they are tried; only the one with `stem`
// unless that is empty.
[[nodiscard]] Result<std::vector<const templates::Template*>> candidates(std::string_view stem,
                                                                         const DeviceInfo& device,
                                                                         TemplatePointers templates);

}  // namespace tma_jit::plan
