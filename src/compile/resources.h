// The resource report of `ptxas -v` in NVRTC's log.
#pragma once

#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>

#include "compile/diagnostic.h"

namespace tma_jit::compile {

// Returns the entry's registers, stack and shared memory, and the spills of it and of the functions it may call.
// Resources::warnings gets ptxas's warnings, its numbered advisories ("ptxas: C7510 ...") and NVRTC's warnings.
Resources parse_resources(std::string_view log, std::string_view entry, const std::vector<Diagnostic>& diagnostics);

}  // namespace tma_jit::compile
