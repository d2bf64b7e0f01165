#include "base/log.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/file.h"
#include "support/temporary_folder.h"

namespace tma_jit {

TEST_CASE("messages at or above the level reach the callback as they were formatted") {
  std::vector<std::string> seen;
  const Logger log = make_logger(spdlog::level::warn, [&](spdlog::level::level_enum level, std::string_view message) {
    seen.push_back(std::to_string(level) + " " + std::string(message));
  });
  log->info("not {}", "seen");
  log->warn("cache: {} faults", 3);
  log->error("braces {} stay", "{}");
  CHECK(seen == std::vector<std::string>{"3 cache: 3 faults", "4 braces {} stay"});
}

TEST_CASE("messages do not go into a file that takes the number of standard error") {
  const TemporaryFolder folder;
  const auto text_after = [&](bool replaced) {
    const std::string first = (folder.path() / "first").string(), second = (folder.path() / "second").string();
    REQUIRE(write_file(first, ""));
    REQUIRE(write_file(second, ""));
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(::open(first.c_str(), O_WRONLY), STDERR_FILENO);
      const Logger log = make_logger(spdlog::level::warn, {});
      if (replaced) ::dup2(::open(second.c_str(), O_WRONLY), STDERR_FILENO);
      log->warn("here");
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    return read_file(first).value() + read_file(second).value();
  };
  CHECK(text_after(false) == "tma-jit: warning: here\n");
  CHECK(text_after(true).empty());
}

// Not a test by itself: what the next one starts as a program.
TEST_CASE("child: warns into whatever has the number of standard error" * doctest::skip()) {
  const char* file = std::getenv("TMA_JIT_TEST_FILE");
  REQUIRE(file != nullptr);
  const int opened = ::open(file, O_WRONLY | O_CREAT, 0600);
  make_logger(spdlog::level::warn, {})->warn("here");
  ::_exit(opened == STDERR_FILENO ? 0 : 1);
}

TEST_CASE("a program started without standard error writes no messages into the file that takes its number") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "file").string();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("TMA_JIT_TEST_FILE", file.c_str(), 1);
    ::dup2(::open("/dev/null", O_RDWR), STDOUT_FILENO);
    ::close(STDERR_FILENO);
    ::execl("/proc/self/exe", "test", "--no-skip", "-tc=child: warns into*", nullptr);
    ::_exit(99);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(read_file(file).value() == "");
}

}  // namespace tma_jit
