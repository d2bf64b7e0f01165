// Whether files hold values that are valid for the tensors of indices to which they are given.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/plan.h>

#include "data_options.h"
#include "outcome.h"

namespace tma_jit::cli {

// Fails with the first value of a file that is outside of its tensor's range. Of a tensor whose values the kernel
// checks itself such a value is no failure: returns what there is to say. The files have the sizes of their tensors.
[[nodiscard]] Outcome<std::vector<std::string>> check_indices(const Plan& plan, const DataChoices& choices);

}  // namespace tma_jit::cli
