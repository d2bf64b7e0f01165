// A plan becomes CUDA text. Nothing here looks at the manifest: the plan decides, the template's text is not edited.
#pragma once

#include <string>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>
#include <tma_jit/plan.h>

#include "source/headers.h"

namespace tma_jit::emission {

struct EmitOptions {
  bool line_info = false;  // -lineinfo
  HeaderLookup header;     // finds device headers by name
};

// Fails where a quoted #include names no header (not_found, with file:line and what the lookup says) and where a hook's
// brackets do not match (parse).
Result<Source> emit(const Plan& plan, const EmitOptions& options);

// One file with every header pasted in, which `nvcc -arch=ARCH -cubin FILE.cu` compiles as it is.
Result<std::string> standalone(const Plan& plan, const EmitOptions& options);
// The same of a source that is there already, less the line that says how to compile it.
std::string standalone(const Source& source);

}  // namespace tma_jit::emission
