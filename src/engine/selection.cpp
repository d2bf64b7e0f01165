#include "engine/selection.h"

#include "base/text.h"
#include "core/failure.h"
#include "source/tma_use.h"

namespace tma_jit::engine {
namespace {

constexpr const char* kDisabled = "TMA is disabled (by TMA_JIT_DISABLE_TMA, or by the caller)";

}  // namespace

Result<Selection> Selection::of(std::vector<templates::TemplatePointer> found, bool disable_tma,
                                const source::HeaderLookup& lookup) {
  Selection selection;
  if (!disable_tma) {
    selection.templates_ = std::move(found);
    return selection;
  }
  for (templates::TemplatePointer& kernel : found) {
    if (source::uses_tma(*kernel, lookup)) {
      selection.left_out_.push_back(kernel->file());
    } else {
      selection.templates_.push_back(std::move(kernel));
    }
  }
  if (!selection.templates_.empty() || selection.left_out_.empty()) return selection;
  return failure(ErrorCode::unsupported, "{}: {}, and every file of this kernel uses it: {}", found.front()->kernel,
                 kDisabled, joined(selection.left_out_));
}

Error Selection::explained(Error error) const {
  const bool by_choice =
      error.code == ErrorCode::no_config || error.code == ErrorCode::unsupported || error.code == ErrorCode::not_found;
  if (!by_choice || left_out_.empty()) return error;
  if (!error.detail.empty() && error.detail.back() != '\n') error.detail += '\n';
  error.detail += fmt::format("{}, which leaves out {}", kDisabled, joined(left_out_));
  return error;
}

}  // namespace tma_jit::engine
