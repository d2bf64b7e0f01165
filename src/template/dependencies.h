// The params on which expressions depend.
#pragma once

#include <vector>

#include "template/template.h"

namespace tma_jit::templates {

// Refers to the template, which must outlive it.
class Dependencies {
 public:
  // What is followed besides lets: nothing, or the strides of tensors, which depend on their shapes where a request
  // gives no tensors.
  enum class Through : std::uint8_t { lets, strides };
  Dependencies(const Template& kernel, Through through);

  // Adds those of an expression of the template.
  void add(const Expression& expression);
  // Returns the indices of the params, ascending.
  std::vector<std::size_t> params() const;

 private:
  const Template& kernel_;
  const Through through_;
  std::vector<bool> seen_;    // by Reference::id
  std::vector<bool> params_;  // by the param's index
};

}  // namespace tma_jit::templates
