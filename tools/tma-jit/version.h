// tma-jit --version: the versions of the library, the compiler and the cache format.
#pragma once

#include "console.h"

namespace tma_jit::cli {

// Prints them; returns the exit code.
int print_version(const Console& console);

}  // namespace tma_jit::cli
