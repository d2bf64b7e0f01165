#include "plan/planner.h"

#include <algorithm>
#include <optional>

#include "plan/alike.h"
#include "plan/assembly.h"
#include "plan/fault.h"
#include "plan/layout_reason.h"
#include "plan/search.h"
#include "template/operand_declarations.h"

namespace tma_jit::plan {
namespace {

Result<Binding> bound(const templates::Template& kernel, const Request& request, const DeviceInfo& device) {
  if (request.reference && !kernel.reference.has_value()) {
    return fault(kernel, ErrorCode::unsupported, "{} declares no reference kernel", kernel.file());
  }
  if (request.inputs && (request.reference || !kernel.inputs.has_value())) {
    return fault(kernel, request.reference ? ErrorCode::invalid_argument : ErrorCode::unsupported, "{}",
                 request.reference ? "a request is for the reference or for what computes inputs, not for both"
                                   : kernel.file() + " declares no kernel that computes inputs");
  }
  return bind(kernel, request, device);
}

// Returns the default, then the others as written.
std::vector<DType> choices_of(const templates::Type& type) {
  std::vector<DType> choices = {type.default_value};
  std::ranges::copy_if(type.choices, std::back_inserter(choices),
                       [&](DType choice) { return choice != type.default_value; });
  return choices;
}

// Types that no tensor has and that the request does not give are chosen like params: returns one request per choice,
// the defaults first. Usually that is only the request itself.
std::vector<Request> with_free_types(const templates::Template& kernel, const Request& request) {
  std::vector<Request> requests = {request};
  for (const templates::Type& type : kernel.types) {
    if (request.types.contains(type.name) || !is_free(kernel, type, request.reference)) continue;
    std::vector<Request> chosen;
    for (const DType choice : choices_of(type)) {
      for (const Request& other : requests) {
        chosen.push_back(other);
        chosen.back().types[type.name] = choice;
      }
    }
    requests = std::move(chosen);
  }
  return requests;
}

Result<Plan> plan_as_asked(const templates::Template& kernel, const Request& request, const DeviceInfo& device,
                           Reasons reasons, Avoided avoided) {
  TMA_JIT_ASSIGN(const Binding binding, bound(kernel, request, device));
  Search search(binding);
  for (const Configuration& configuration : avoided) {
    if (configuration.file == kernel.file()) search.avoid(configuration.params);
  }
  if (search.take_pinned()) {
    Result<Plan> plan = assemble(search.values(), search.conditions());
    if (plan.has_value()) return plan;
  }
  TMA_JIT_ASSIGN(const bool found, search.choose());
  if (found) return assemble(search.values(), search.conditions());
  if (reasons == Reasons::unsaid) return fault(kernel, ErrorCode::no_config, "{}", kNoConfig);
  TMA_JIT_ASSIGN(const Enumeration enumeration, search.reasons());
  return tl::make_unexpected(no_config(kernel.kernel, enumeration));
}

// Enumerates with the types that a plan would get.
Result<Enumeration> enumerate_with(const templates::Template& declared, const Request& request,
                                   const DeviceInfo& device) {
  TMA_JIT_ASSIGN(const templates::Template kernel, templates::with_operands(declared, request.operands));
  std::optional<Enumeration> first;
  for (const Request& typed : with_free_types(kernel, request)) {
    TMA_JIT_ASSIGN(const Binding binding, bound(kernel, typed, device));
    TMA_JIT_ASSIGN(Enumeration enumeration, Search(binding).count());
    if (enumeration.valid > 0) return enumeration;
    if (!first.has_value()) first = std::move(enumeration);
  }
  return std::move(*first);
}

struct Refusal {
  const templates::Template* kernel;
  Error error;
};

void append_line(std::string& text, std::string_view line) {
  if (!text.empty()) text += '\n';
  text += line;
}

// If there is one candidate, or all have the same error, returns that error; else one that lists the reason of each
// file.
Error combined(const std::vector<Refusal>& refusals) {
  const Error& first = refusals.front().error;
  const bool alike = std::ranges::all_of(refusals, [&](const Refusal& refusal) {
    return refusal.error.code == first.code && refusal.error.text() == first.text();
  });
  if (alike) return first;
  const std::string& kernel = refusals.front().kernel->kernel;
  const bool judged =
      std::ranges::any_of(refusals, [](const Refusal& refusal) { return refusal.error.code == ErrorCode::no_config; });
  Error error{judged ? ErrorCode::no_config : first.code,
              fmt::format("{}: {}", kernel, judged ? kNoConfig : "no template takes this request"),
              {}};
  for (const Refusal& refusal : refusals) {
    if (refusal.error.code != ErrorCode::no_config) {
      append_line(error.detail, fmt::format("{}: {}", refusal.kernel->file(), refusal.error.line()));
    }
    if (!refusal.error.detail.empty()) append_line(error.detail, refusal.error.detail);
  }
  return error;
}

Result<Plan> plan_with_types(const templates::Template& kernel, const Request& request, const DeviceInfo& device,
                             Reasons reasons, Avoided avoided) {
  const bool all_chosen = std::ranges::all_of(kernel.types, [&](const templates::Type& type) {
    return request.types.contains(type.name) || !is_free(kernel, type, request.reference);
  });
  if (all_chosen) return plan_as_asked(kernel, request, device, reasons, avoided);
  std::optional<Error> first;
  for (const Request& typed : with_free_types(kernel, request)) {
    Result<Plan> plan = plan_as_asked(kernel, typed, device, reasons, avoided);
    if (plan.has_value() || plan.error().code != ErrorCode::no_config) return plan;
    if (!first.has_value()) first = std::move(plan.error());
  }
  return tl::make_unexpected(std::move(*first));
}

}  // namespace

bool is_free(const templates::Template& kernel, const templates::Type& type, bool reference) {
  return std::ranges::none_of(kernel.tensors, [&](const templates::Tensor& tensor) {
    return tensor.type.name == type.name && !(reference && tensor.output);
  });
}

Result<Plan> plan_with(const templates::Template& kernel, const Request& request, const DeviceInfo& device,
                       Reasons reasons, Avoided avoided) {
  if (request.operands.empty()) return plan_with_types(kernel, request, device, reasons, avoided);
  TMA_JIT_ASSIGN(const templates::Template extended, templates::with_operands(kernel, request.operands));
  return plan_with_types(extended, request, device, reasons, avoided);
}

bool fits(const templates::Template& kernel, const Request& pinned, const DeviceInfo& device) {
  if (!serves(kernel, device.arch)) return false;
  if (!pinned.operands.empty()) return plan_with(kernel, pinned, device, Reasons::unsaid).has_value();
  const Result<Binding> binding = bound(kernel, pinned, device);
  return binding.has_value() && Search(*binding).fits();
}

namespace {

// Returns whether a file takes the request: all that it gives is the file's, if no configuration satisfies it.
bool takes(const Result<Plan>& result) {
  return result.has_value() || result.error().code == ErrorCode::no_config;
}

Result<Plan> choose_plan(const Request& request, const DeviceInfo& device, TemplatePointers templates,
                         Avoided avoided) {
  TMA_JIT_ASSIGN(const std::vector<const templates::Template*> tried, candidates(request.file, device, templates));
  std::vector<Refusal> refusals;
  std::optional<Plan> cheapest;
  AlikeRequest alike(request);
  for (const templates::Template* kernel : tried) {
    if (cheapest.has_value() && !kernel->work.cycles.has_value()) continue;
    Result<Plan> plan = plan_with(*kernel, alike.in(*kernel), device, Reasons::unsaid, avoided);
    if (!alike.follows() && takes(plan)) alike.follow(*kernel);
    if (!plan.has_value()) {
      refusals.push_back({kernel, std::move(plan.error())});
    } else if (!kernel->work.cycles.has_value()) {
      return plan;
    } else if (!cheapest.has_value() || plan->work.cycles < cheapest->work.cycles) {
      cheapest = std::move(*plan);
    }
  }
  if (cheapest.has_value()) return std::move(*cheapest);
  for (Refusal& refusal : refusals) {
    if (refusal.error.code != ErrorCode::no_config) continue;
    refusal.error = plan_with(*refusal.kernel, alike.in(*refusal.kernel), device, Reasons::said, avoided).error();
  }
  return tl::make_unexpected(combined(refusals));
}

}  // namespace

Result<Plan> make_plan(const Request& request, const DeviceInfo& device, TemplatePointers templates, Avoided avoided) {
  const Planner planner = [&](const Request& other) { return choose_plan(other, device, templates, avoided); };
  TMA_JIT_ASSIGN(Plan plan, planner(request));
  if (!plan.reference) plan.reason = layout_reason(request, plan, device, planner);
  return plan;
}

Result<Enumeration> enumerate(const Request& request, const DeviceInfo& device, TemplatePointers templates) {
  TMA_JIT_ASSIGN(const std::vector<const templates::Template*> tried, candidates(request.file, device, templates));
  std::vector<Refusal> refusals;
  std::optional<Enumeration> first;
  AlikeRequest alike(request);
  for (const templates::Template* kernel : tried) {
    Result<Enumeration> enumeration = enumerate_with(*kernel, alike.in(*kernel), device);
    if (!enumeration.has_value()) {
      refusals.push_back({kernel, std::move(enumeration.error())});
      continue;
    }
    if (enumeration->valid > 0) return enumeration;
    if (alike.follows()) continue;
    first = std::move(*enumeration);
    alike.follow(*kernel);
  }
  if (first.has_value()) return std::move(*first);
  return tl::make_unexpected(combined(refusals));
}

}  // namespace tma_jit::plan
