// Whether a hook's text can end before its function does.
#pragma once

#include <tma_jit/error.h>
#include <tma_jit/plan.h>

namespace tma_jit::emission {

// A bracket the text opens it must close, and it may close no other: else the mistake would surface in the template.
// Fails with parse, as "hook NAME:line:column: ...". Texts with preprocessor lines are left to the compiler.
Result<void> check_brackets(const Hook& hook);

}  // namespace tma_jit::emission
