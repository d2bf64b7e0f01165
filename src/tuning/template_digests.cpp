#include "tuning/template_digests.h"

namespace tma_jit::tuning {
namespace {

constexpr std::size_t kMost = 64;

}  // namespace

std::optional<std::string> TemplateDigests::find(const Asked& asked) const {
  const auto known = known_.find({std::string(asked.file), asked.hooks});
  return known != known_.end() && known->second.body == asked.body ? std::optional(known->second.digest) : std::nullopt;
}

void TemplateDigests::keep(const Asked& asked, std::string digest) {
  if (known_.size() >= kMost) known_.clear();
  known_.insert_or_assign({std::string(asked.file), asked.hooks}, Known{std::string(asked.body), std::move(digest)});
}

}  // namespace tma_jit::tuning
