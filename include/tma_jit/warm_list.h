// Warm lists: which kernels to build ahead of time. A text file of one JSON object a line (docs/caching.md has the
// fields); lines that are empty or begin with # say nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/engine.h>
#include <tma_jit/error.h>
#include <tma_jit/plan.h>
#include <tma_jit/request.h>

namespace tma_jit {

struct WarmLine {
  Request request{};
  std::string arch{};    // empty: whatever is warmed for
  bool presets = false;  // every preset of the kernel, for every choice of types; of the request only kernel, file and
                         // dims count
};

// The line, without its end, that builds what the plan builds.
TMA_JIT_API std::string warm_line(const Plan& plan);
// Fails (parse) on what is not such an object, naming the field.
[[nodiscard]] TMA_JIT_API Result<WarmLine> parse_warm_line(std::string_view line);
// What the line stands for on the engine's target, each to be planned and built. None where the line is for another
// target, or asks for the presets of a kernel that has no file for this one.
[[nodiscard]] TMA_JIT_API Result<std::vector<Request>> warm_requests(Engine& engine, const WarmLine& line);

}  // namespace tma_jit
