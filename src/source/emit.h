// A plan becomes CUDA text. Nothing here looks at the manifest: the plan decides, the template's text is not edited.
#pragma once

#include <string>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>
#include <tma_jit/plan.h>

#include "source/headers.h"

namespace tma_jit::source {

struct EmitOptions {
  bool line_info = false;  // -lineinfo
  // What the driver takes. PTX is of the virtual architecture and has the lines that the emulator's reports name.
  Artifact::Form form = Artifact::Form::cubin;
  HeaderLookup header;  // finds device headers by name
};

// Fails where a quoted #include names no header (not_found, with file:line and what the lookup says), where the
// compiler could read more than the template and its headers, and where a hook's brackets do not match (both parse).
[[nodiscard]] Result<Source> emit(const Plan& plan, const EmitOptions& options);

// One file with every header pasted in, which `nvcc -arch=ARCH -cubin FILE.cu` compiles as it is.
[[nodiscard]] Result<std::string> standalone(const Plan& plan, const EmitOptions& options);
// The same of a source that is there already, less the line that says how to compile it.
std::string standalone(const Source& source);

}  // namespace tma_jit::source
