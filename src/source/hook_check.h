// Checks that a hook's text cannot affect code beyond its function.
#pragma once

#include <cstddef>
#include <string_view>

#include <tma_jit/error.h>
#include <tma_jit/plan.h>

#include "source/operand_uses.h"

namespace tma_jit::source {

// Requires that the text closes the brackets that it opens and no others, closes comments and raw string literals, and
// does not join its last line to the next. Tensor operands must have as many indices as dimensions. Of preprocessor
// lines only #pragma unroll is allowed; digraphs are not. An untrusted hook must be an expression (hook_expression.h).
// Otherwise the mistake would appear as an error in the template. Fails with parse, as "hook NAME:line:column: error:
// ...".
[[nodiscard]] Result<void> check_hook(const Hook& hook, Operands operands = {});

// Returns the error for a fault at a byte of the hook's text, with the line and a caret below it.
[[nodiscard]] tl::unexpected<Error> hook_fault(const Hook& hook, std::size_t at, std::string_view what);

}  // namespace tma_jit::source
