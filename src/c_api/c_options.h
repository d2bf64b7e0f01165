// An engine's options as C gives them.
#pragma once

#include "c_api/c_handles.h"

namespace tma_jit::c_api {

// NULL gives the defaults.
Result<Options> options_of(const tma_jit_options* from);

Result<Seal> seal_of(tma_jit_seal seal);

}  // namespace tma_jit::c_api
