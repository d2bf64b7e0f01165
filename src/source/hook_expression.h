// The grammar of hooks whose text comes from an untrusted source.
#pragma once

#include <array>
#include <string_view>

#include <tma_jit/error.h>
#include <tma_jit/plan.h>

#include "source/operand_uses.h"

namespace tma_jit::source {

// The functions of device/tile/activation.cuh.
inline constexpr std::array<std::string_view, 6> kActivations = {"sigmoid",   "silu",    "gelu",
                                                                 "gelu_tanh", "softcap", "softcap_approx"};
// The functions of device/tile/packed_mask.cuh.
inline constexpr std::array<std::string_view, 1> kMasks = {"packed"};

// Succeeds if the hook's text is one expression of its parameters, operands, numbers, parentheses, the operators
//
//   ?:  ||  &&  |  ^  &  == !=  < > <= >=  << >>  + -  * / %  unary + - ! ~
//
// elements of operands (`bias[column]`), conversions to number types (`f32(a)` or `(f32)a`) and calls of CUDA's math
// functions, of activations and of masks, nested to a depth of at most 64. Everything else fails: statements,
// assignments, lambdas, members, pointers, strings, and any other name. Fails with parse, as "hook NAME:line:column:
// ...".
[[nodiscard]] Result<void> check_expression(const Hook& hook, Operands operands = {});

}  // namespace tma_jit::source
