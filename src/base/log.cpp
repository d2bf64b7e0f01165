#include "base/log.h"

#include <cstdio>
#include <mutex>

#include <spdlog/sinks/base_sink.h>

namespace tma_jit {
namespace {

class CallbackSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit CallbackSink(LogSink deliver) : deliver_(std::move(deliver)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    deliver_(message.level, {message.payload.data(), message.payload.size()});
  }
  void flush_() override {}

  LogSink deliver_;
};

void write_to_stderr(spdlog::level::level_enum level, std::string_view message) {
  const auto name = spdlog::level::to_string_view(level);
  std::fprintf(stderr, "tma-jit: %.*s: %.*s\n", static_cast<int>(name.size()), name.data(),
               static_cast<int>(message.size()), message.data());
}

}  // namespace

Logger make_logger(spdlog::level::level_enum level, LogSink sink) {
  if (!sink) sink = write_to_stderr;
  auto logger = std::make_shared<spdlog::logger>("tma-jit", std::make_shared<CallbackSink>(std::move(sink)));
  logger->set_level(level);
  return logger;
}

}  // namespace tma_jit
