// Warm lists: which kernels to build ahead of time. A text file with one JSON object per line (docs/caching.md lists
// the fields); lines that are empty or begin with # are ignored.
#pragma once

#include <map>
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
  std::string arch{};  // empty: any target
  // Of a line that warm_line wrote, the params that its request pinned; the request of the line pins all.
  std::map<std::string, std::int64_t> pins{};
  bool presets = false;  // every preset of the kernel for every choice of types; only the request's kernel, file and
                         // dims are used
};

// Returns the line, without a newline, that builds the same kernel as the plan.
TMA_JIT_API std::string warm_line(const Plan& plan);
// Returns the line, without a newline, that describes the request to any device: nothing in it depends on a plan. The
// values of scalars and the addresses of tensors are not in it, only the alignment of an address below 256 bytes.
TMA_JIT_API std::string request_line(const Request& request);
// Fails (parse) if the line is not such an object; the error names the field.
[[nodiscard]] TMA_JIT_API Result<WarmLine> parse_warm_line(std::string_view line);
// Returns the requests that the line describes on the engine's target, each to be planned and built. Empty if the line
// is for another target, or asks for the presets of a kernel without a file for this target.
[[nodiscard]] TMA_JIT_API Result<std::vector<Request>> warm_requests(Engine& engine, const WarmLine& line);

// What `prove` found.
struct Proof {
  struct Missing {
    std::size_t request = 0;  // index in the list
    Error error{};            // not_found if the cache lacks the kernel, else why it cannot be planned or named
  };
  std::size_t there = 0;  // requests whose kernel is in the cache, whole and for this compiler
  std::vector<Missing> missing{};
  double ms = 0;  // wall time of the whole proof
};
// Looks up the kernel of every request in the cache, reading and verifying each entry. Compiles, loads and launches
// nothing, whether or not the engine is sealed.
[[nodiscard]] TMA_JIT_API Proof prove(Engine& engine, const std::vector<Request>& requests);

}  // namespace tma_jit
