// A limit on the number of concurrent compiles, for a runner that has none of its own.
#pragma once

#include <memory>

#include "compile/runner.h"

namespace tma_jit::compile {

// Returns a runner that passes jobs on to `runner`, at most `runs` at a time; others wait. 0 means default_slots().
std::shared_ptr<Runner> bounded(int runs, std::shared_ptr<Runner> runner);

}  // namespace tma_jit::compile
