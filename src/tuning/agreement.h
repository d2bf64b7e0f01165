// Whether two configurations computed the same.
#pragma once

#include <string>

#include "tuning/tensors.h"

namespace tma_jit::tuning {

// Compares the outputs by the kernel `distance`. Sums are added in another order by every configuration, so outputs
// agree where their distance, relative to the first one's root mean square, is below what rounding to their type and
// sums in f32 explain. Returns "" where they agree, else by how much they do not.
[[nodiscard]] Result<std::string> disagreement(Engine& engine, const MadeTensor& expected, const MadeTensor& got);

}  // namespace tma_jit::tuning
