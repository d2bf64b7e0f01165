// A limit on runs beside each other, for a runner that has none of its own.
#pragma once

#include <memory>

#include "compile/runner.h"

namespace tma_jit::compile {

// `runner`, of which no more than `runs` are under way at a time; others wait. 0: as many as the machine takes.
std::shared_ptr<Runner> at_most(int runs, std::shared_ptr<Runner> runner);

}  // namespace tma_jit::compile
