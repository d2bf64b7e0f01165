// Whether two configurations computed the same result.
#pragma once

#include <string>
#include <vector>

#include "tuning/tensors.h"

namespace tma_jit::tuning {

// Compares outputs with the kernel `distance`. Every configuration adds in another order, so outputs agree if their
// distance, relative to the root mean square of the expected one, is within what rounding to their type and summation
// in f32 explain. Returns "" if they agree, else a description of the difference.
[[nodiscard]] Result<std::string> disagreement(Engine& engine, const MadeTensor& expected, const MadeTensor& got,
                                               const SideStream& side);

// Returns requests whose kernels `disagreement` uses for the outputs among the tensors.
[[nodiscard]] std::vector<Request> comparisons(const std::vector<MadeTensor>& tensors);

}  // namespace tma_jit::tuning
