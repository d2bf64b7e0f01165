// The expressions of declarations, in which references are resolved.
#pragma once

#include <vector>

#include "template/template.h"

namespace tma_jit::templates {

using Expressions = std::vector<Expression*>;

Expressions expressions_of(Tensor& tensor);
// Returns all expressions of the template, lets first.
Expressions expressions_of(Template& kernel);

}  // namespace tma_jit::templates
