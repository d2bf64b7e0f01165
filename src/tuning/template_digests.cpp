#include "tuning/template_digests.h"

#include <algorithm>

namespace tma_jit::tuning {
namespace {

constexpr std::size_t kMost = 64;

// An operand adds a header to those that the template includes.
std::pair<std::string, bool> key_of(const Plan& plan) {
  return {plan.file, std::ranges::any_of(plan.arguments,
                                         [](const Argument& argument) { return argument.hooks_offset.has_value(); })};
}

}  // namespace

std::optional<std::string> TemplateDigests::find(const Plan& plan) const {
  const auto known = known_.find(key_of(plan));
  return known != known_.end() && known->second.body == plan.body ? std::optional(known->second.digest) : std::nullopt;
}

void TemplateDigests::keep(const Plan& plan, std::string digest) {
  if (known_.size() >= kMost) known_.clear();
  known_.insert_or_assign(key_of(plan), Known{plan.body, std::move(digest)});
}

}  // namespace tma_jit::tuning
