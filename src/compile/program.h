// One run of NVRTC: a program is created, compiled, read and destroyed.
#pragma once

#include "compile/nvrtc_api.h"
#include "compile/runner.h"

namespace tma_jit::compile {

Outcome run_program(const NvrtcApi& api, const Job& job);

// Returns the targets that NVRTC lists, without suffixes: "sm_90".
NvrtcFacts facts_of(const NvrtcApi& api);

}  // namespace tma_jit::compile
