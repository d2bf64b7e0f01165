#include "template/dependencies.h"

namespace tma_jit::templates {

Dependencies::Dependencies(const Template& kernel, Through through)
    : kernel_(kernel), through_(through), seen_(kernel.references.size()), params_(kernel.params.size()) {}

void Dependencies::add(const Expression& expression) {
  using List = DeclarationIndex::List;
  for (const Reference& reference : expression.references()) {
    const auto id = static_cast<std::size_t>(reference.id);
    if (seen_[id]) continue;
    seen_[id] = true;
    const auto [list, index] = kernel_.references[id].declaration;
    if (list == List::params) params_[index] = true;
    if (list == List::lets) add(kernel_.lets[index].value);
    if (reference.kind != Reference::Kind::stride || through_ != Through::strides) continue;
    for (const Expression& extent : kernel_.tensors[index].shape) add(extent);
  }
}

std::vector<std::size_t> Dependencies::params() const {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    if (params_[i]) indices.push_back(i);
  }
  return indices;
}

}  // namespace tma_jit::templates
