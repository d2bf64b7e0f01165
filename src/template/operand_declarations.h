// Operands of hooks: tensors and scalars that a request adds to those that a template declares.
#pragma once

#include <span>
#include <string>

#include "template/template.h"

namespace tma_jit::templates {

// Returns the template with the operands after its own tensors and scalars. Each is declared as in a manifest, "bias :
// f32[N]" or "alpha : f32 = 1", with the template's names; a tensor has no attributes, and a scalar is an integer, f32
// or f64. Errors are ErrorCode::parse, "operand:1:column: text", with the declaration and a caret as detail.
[[nodiscard]] Result<Template> with_operands(const Template& kernel, std::span<const std::string> declarations);

}  // namespace tma_jit::templates
