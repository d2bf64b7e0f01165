// A summary of the first launch in the emulator's timeline.
#pragma once

#include <string>

#include "console.h"

namespace tma_jit::cli {

[[nodiscard]] Outcome<Json> trace_summary(const std::string& file);
std::string describe_trace(const std::string& file, const Json& summary);

}  // namespace tma_jit::cli
