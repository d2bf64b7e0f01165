// One logger an engine: spdlog's formatting and levels, delivered to stderr or to the embedder's callback.
#pragma once

#include <memory>

#include <spdlog/logger.h>

namespace tma_jit {

using Logger = std::shared_ptr<spdlog::logger>;

}  // namespace tma_jit
