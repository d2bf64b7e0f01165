// Turns a failed compile into an Error that names the template's own lines.
#pragma once

#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

#include "compile/diagnostic.h"

namespace tma_jit::compile {

// Returns the first error in `message`, and its source line, caret and the errors after it (at most 20) in `detail`. If
// no error could be parsed, quotes `log`.
Error compile_error(const Source& source, std::vector<Diagnostic> diagnostics, const std::string& log);

}  // namespace tma_jit::compile
