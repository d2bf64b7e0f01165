// The grammar of hooks whose text comes from someone the program does not trust.
#pragma once

#include <tma_jit/error.h>
#include <tma_jit/plan.h>

#include "source/operand_uses.h"

namespace tma_jit::source {

// Passes where the hook's text is one expression of its parameters, operands, numbers, parentheses, the operators
//
//   ?:  ||  &&  |  ^  &  == !=  < > <= >=  << >>  + -  * / %  unary + - ! ~
//
// elements of operands (`bias[column]`), conversions to number types (`f32(a)` or `(f32)a`) and calls of CUDA's math
// functions, nested to a depth of 64. Nothing else can be written: no statement, assignment, lambda, member, pointer,
// string, or name of anything else. Fails with parse, as "hook NAME:line:column: ...".
[[nodiscard]] Result<void> check_expression(const Hook& hook, Operands operands = {});

}  // namespace tma_jit::source
