// One logger an engine: spdlog's formatting and levels, delivered to stderr or to the embedder's callback.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <spdlog/logger.h>

namespace tma_jit {

using Logger = std::shared_ptr<spdlog::logger>;

// Called with one message at a time; must not throw.
using LogSink = std::function<void(spdlog::level::level_enum level, std::string_view message)>;

// Without a sink, messages go to stderr as "tma-jit: warning: ...", as long as descriptor 2 is the file that it was
// when the logger was made, and was open when the library was loaded: text never goes into a file that has taken its
// number. The logger is not in spdlog's registry.
Logger make_logger(spdlog::level::level_enum level, LogSink sink);

}  // namespace tma_jit
