// From a request to a plan. Pure: looks at nothing but its arguments; safe from any thread.
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
// Those that are not to be chosen, however well they fit.
using Avoided = std::span<const Configuration>;

using TemplatePointers = std::span<const std::shared_ptr<const templates::Template>>;

// `templates` are the files that declare the request's kernel. Those that serve `device.arch` are tried in order, the
// ones written for fewer targets first, then by file stem; the first with a valid configuration wins. If none has one,
// the error tells why for each.
[[nodiscard]] Result<Plan> make_plan(const Request& request, const DeviceInfo& device, TemplatePointers templates,
                                     Avoided avoided = {});

// Whether a no_config error has the count of what each rule excludes, which takes judging every configuration.
enum class Reasons : std::uint8_t { unsaid, said };

// The same with one template, whether or not it serves the device.
[[nodiscard]] Result<Plan> plan_with(const templates::Template& kernel, const Request& request,
                                     const DeviceInfo& device, Reasons reasons, Avoided avoided = {});

// Every configuration judged, for the file `make_plan` would take; for the first file where none has a valid one.
[[nodiscard]] Result<Enumeration> enumerate(const Request& request, const DeviceInfo& device,
                                            TemplatePointers templates);

// The configurations most worth measuring, at most `most`: first what `make_plan` takes, then of all files that serve
// the device those of the fewest estimated cycles, and last those of files that state none (Search::rank).
Result<std::vector<Candidate>> rank(const Request& request, const DeviceInfo& device, TemplatePointers templates,
                                    std::size_t most);

// One request for the defaults and every preset of every file that serves the device, and for every choice of types
// that makes it a valid configuration: all params pinned, no tensors. Dims not in `dims` are 1024, or the nearest their
// range allows. A preset that no types make valid is there once, so that planning it tells why.
[[nodiscard]] Result<std::vector<Request>> preset_requests(const DeviceInfo& device, TemplatePointers templates,
                                                           const std::map<std::string, std::int64_t>& dims);

// Whether a template that lists `listed` serves the target: the same; a plain "sm_90" serves sm_90a and sm_90f too; a
// family "sm_100f" serves the family's later targets, sm_103a among them.
bool serves(std::string_view listed, std::string_view target);

// Whether no tensor has elements of the type, so that the planner chooses it like a param. A reference's outputs are
// f64 and have no say.
bool is_free(const templates::Template& kernel, const templates::Type& type, bool reference = false);

// Of `templates`, those that serve the device, in the order they are tried; only `stem`'s unless that is empty.
[[nodiscard]] Result<std::vector<const templates::Template*>> candidates(std::string_view stem,
                                                                         const DeviceInfo& device,
                                                                         TemplatePointers templates);

}  // namespace tma_jit::plan
