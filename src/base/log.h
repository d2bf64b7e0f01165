// One logger per engine: spdlog's formatting and levels, written to stderr or to the embedder's callback.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <spdlog/logger.h>

namespace tma_jit {

using Logger = std::shared_ptr<spdlog::logger>;

// Called with one message at a time. Must not throw.
using LogSink = std::function<void(spdlog::level::level_enum level, std::string_view message)>;

// Without a sink, messages go to stderr as "tma-jit: warning: ...", provided that descriptor 2 was open when the
// library was loaded and is still the same file as when the logger was made; log text must not go into a file that has
// reused the number. The logger is not in spdlog's registry.
Logger make_logger(spdlog::level::level_enum level, LogSink sink);

}  // namespace tma_jit
