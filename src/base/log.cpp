#include "base/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <string>

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>

#include "base/write.h"

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

// If the program was started without standard error, descriptor 2 later refers to some other file.
const bool kHasStandardError = ::fcntl(STDERR_FILENO, F_GETFD) != -1;

// The file behind descriptor 2 at the time when the logger was made.
class StandardError {
 public:
  StandardError() : open_(kHasStandardError && ::fstat(STDERR_FILENO, &status_) == 0) {}

  // Returns false if it was closed since then, or replaced by another file, which must not get log text.
  bool is_as_it_was() const {
    struct stat now {};
    return open_ && ::fstat(STDERR_FILENO, &now) == 0 && now.st_dev == status_.st_dev && now.st_ino == status_.st_ino;
  }

 private:
  struct stat status_ {};
  bool open_;
};

void write_to_stderr(const StandardError& standard_error, spdlog::level::level_enum level, std::string_view message) {
  if (!standard_error.is_as_it_was()) return;
  const auto name = spdlog::level::to_string_view(level);
  const std::string line = fmt::format("tma-jit: {}: {}\n", std::string_view(name.data(), name.size()), message);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t put = write_some(STDERR_FILENO, rest.data(), rest.size());
    if (put == 0 || (put < 0 && errno != EINTR)) return;
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(put, 0)));
  }
}

}  // namespace

Logger make_logger(spdlog::level::level_enum level, LogSink sink) {
  if (!sink) {
    sink = [standard_error = StandardError()](spdlog::level::level_enum at, std::string_view message) {
      write_to_stderr(standard_error, at, message);
    };
  }
  auto logger = std::make_shared<spdlog::logger>("tma-jit", std::make_shared<CallbackSink>(std::move(sink)));
  logger->set_level(level);
  return logger;
}

}  // namespace tma_jit
