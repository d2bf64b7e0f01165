// What can be said of a whole manifest once every line is read: names resolve, lets are in order, declarations agree.
#pragma once

#include "template/directives.h"

namespace tma_jit::templates {

// Resolves every reference, fills in what lets depend on, and checks the declarations against each other.
[[nodiscard]] Result<void> check(Builder& builder);

// The part of it that concerns one tensor or scalar, of a template that is complete.
Result<void> check_added(Builder& builder, Tensor& tensor);
Result<void> check_added(const Builder& builder, const Scalar& scalar);

}  // namespace tma_jit::templates
