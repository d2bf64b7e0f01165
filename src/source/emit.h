// Converts a plan to CUDA text. Does not read the manifest: the plan contains every decision, and the template's text
// is not edited.
#pragma once

#include <string>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>
#include <tma_jit/plan.h>

#include "source/draft.h"
#include "source/headers.h"

namespace tma_jit::source {

struct EmitOptions {
  bool line_info = false;  // -lineinfo
  // The form that the driver loads. PTX is for the virtual architecture and has the line numbers that the emulator's
  // reports use.
  Artifact::Form form = Artifact::Form::cubin;
  HeaderLookup header;   // finds device headers by name
  bool shipped = false;  // whether those are the ones that the library ships
};

// Fails if a quoted #include names no header (not_found, with file:line and the lookup's error), if the compiler could
// read more than the template and its headers, or if a hook's brackets do not match (both parse).
[[nodiscard]] Result<Source> emit(const Plan& plan, const EmitOptions& options);

// Returns the same, which reads the texts of shipped headers only if they are asked for.
[[nodiscard]] Result<Draft> draft(const Plan& plan, const EmitOptions& options);

// Returns one file with every header pasted in, which `nvcc -arch=ARCH -cubin FILE.cu` compiles unchanged.
[[nodiscard]] Result<std::string> standalone(const Plan& plan, const EmitOptions& options);
// The same for an emitted source, without the line that says how to compile it.
std::string standalone(const Source& source);

}  // namespace tma_jit::source
