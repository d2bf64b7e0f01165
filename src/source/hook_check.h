// Whether a hook's text can reach beyond its function.
#pragma once

#include <cstddef>
#include <string_view>

#include <tma_jit/error.h>
#include <tma_jit/plan.h>

#include "source/operand_uses.h"

namespace tma_jit::source {

// A bracket the text opens it must close, and it may close no other; comments and raw string literals must be closed,
// and the last line must not be joined to the next. Tensors among the operands are read by as many indices as they
// have. Of preprocessor lines it may have #pragma unroll, and no digraphs. A hook that is marked as untrusted must be
// an expression (hook_expression.h). Else the mistake would surface in the template. Fails with parse, as "hook
// NAME:line:column: error: ...".
[[nodiscard]] Result<void> check_hook(const Hook& hook, Operands operands = {});

// The error of a fault at a byte of the hook's text, with the line and a caret below it.
[[nodiscard]] tl::unexpected<Error> hook_fault(const Hook& hook, std::size_t at, std::string_view what);

}  // namespace tma_jit::source
