// tma-jit --version: which library, compiler and cache format this is.
#pragma once

#include "console.h"

namespace tma_jit::cli {

// Prints it; returns the exit code.
int print_version(const Console& console);

}  // namespace tma_jit::cli
