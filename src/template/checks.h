// The checks of a complete manifest: names resolve, lets are in order, declarations agree.
#pragma once

#include "template/directives.h"

namespace tma_jit::templates {

// Resolves every reference, determines what lets depend on, and checks the declarations against each other.
[[nodiscard]] Result<void> check(Builder& builder);

// Resolves the references of presets that are added to a complete template, and checks them.
[[nodiscard]] Result<void> check_presets(Builder& builder);

// The same for one tensor or scalar that is added to a complete template.
[[nodiscard]] Result<void> check_added(Builder& builder, Tensor& tensor);
[[nodiscard]] Result<void> check_added(const Builder& builder, const Scalar& scalar);

}  // namespace tma_jit::templates
