// What can be said of a whole manifest once every line is read: names resolve, lets are in order, declarations agree.
#pragma once

#include "template/directives.h"

namespace tma_jit::manifest {

// Resolves every reference, fills in what lets depend on, and checks the declarations against each other.
Result<void> check(Builder& builder);

}  // namespace tma_jit::manifest
