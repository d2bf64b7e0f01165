// Expands a line of a warm list to the requests that an engine builds.
#include <tma_jit/warm_list.h>

#include <tma_jit/device.h>

#include "core/failure.h"

namespace tma_jit {

Result<std::vector<Request>> warm_requests(Engine& engine, const WarmLine& line) {
  if (!line.arch.empty()) {
    TMA_JIT_ASSIGN(const std::string wanted, normalise_arch(line.arch));
    TMA_JIT_ASSIGN(const DeviceInfo device, engine.device());
    if (device.arch != wanted) return std::vector<Request>();
  }
  if (!line.presets) return std::vector<Request>{line.request};
  auto requests = engine.presets(line.request.kernel, line.request.dims);
  if (!requests && requests.error().code == ErrorCode::unsupported) return std::vector<Request>();
  if (requests && !line.request.file.empty()) {
    std::erase_if(*requests, [&](const Request& request) { return request.file != line.request.file; });
  }
  return requests;
}

}  // namespace tma_jit
