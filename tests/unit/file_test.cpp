#include "base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "base/library.h"
#include "base/log.h"
#include "cache/store.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"
#include "tuning/file_lock.h"

namespace tma_jit {
namespace {

// What `work` returns in a child whose files may have 4,096 bytes: 100 where a signal was left over, or the mask or the
// disposition is another than before, and -1 where a signal ended it.
template <class Work> int in_limited_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_DFL);
    const int outcome = work();
    sigset_t pending, mask;
    struct sigaction now {};
    ::sigpending(&pending);
    ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    ::sigaction(SIGXFSZ, nullptr, &now);
    const bool as_it_was =
        ::sigismember(&pending, SIGXFSZ) == 0 && ::sigismember(&mask, SIGXFSZ) == 0 && now.sa_handler == SIG_DFL;
    ::_exit(as_it_was ? outcome : 100);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a pipe, device or folder in a file's place is an error at once") {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(read_file(pipe).error().message == "cannot read " + pipe.string() + ": it is a pipe, socket or device");
  CHECK(read_file("/dev/zero").error().message == "cannot read /dev/zero: it is a pipe, socket or device");
  CHECK(read_file(folder.path()).error().message == "cannot read " + folder.path().string() + ": it is a folder");
  CHECK_FALSE(write_file(pipe, "text"));
  CHECK_FALSE(append_to_file(pipe, "text"));
  CHECK_FALSE(append_to_file("/dev/null", "text"));
  CHECK(Library::open(pipe).error().message == pipe.string() + ": it is not a plain file");
  CHECK_FALSE(build_id(pipe));
  REQUIRE(write_file(folder.path() / "plain", "text"));
  CHECK(read_file(folder.path() / "plain").value() == "text");
  REQUIRE(append_to_file(folder.path() / "plain", " and more"));
  CHECK(read_file(folder.path() / "plain").value() == "text and more");
}

TEST_CASE("a file at the limit of its size is an error, and the program keeps its signals") {
  const TemporaryFolder folder;
  const std::string text(10'000, 'x');
  CHECK(in_limited_child([&] {
          const auto written = write_file(folder.path() / "file", text);
          if (written || written.error().message.find("File too large") == std::string::npos) return 1;
          return append_to_file(folder.path() / "file", text) ? 2 : 0;
        }) == 0);
  CHECK(in_limited_child([&] {
          const auto store = cache::Store::open(folder.path() / "cache").value();
          return store.put(cache::sample_key(1), cache::noise_entry(1, text.size())) ? 1 : 0;
        }) == 0);
  CHECK(in_limited_child([&] {
          ::dup2(::open((folder.path() / "log").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
          make_logger(spdlog::level::warn, {})->warn("{}", text);
          make_logger(spdlog::level::warn, {})->warn("{}", text);
          return 0;
        }) == 0);
}

TEST_CASE("a signal of the limit of size that waits already is left waiting") {
  const TemporaryFolder folder;
  CHECK(in_limited_child([&] {
          sigset_t signal;
          ::sigemptyset(&signal);
          ::sigaddset(&signal, SIGXFSZ);
          ::pthread_sigmask(SIG_BLOCK, &signal, nullptr);
          ::raise(SIGXFSZ);
          if (write_file(folder.path() / "file", std::string(10'000, 'x'))) return 1;
          const timespec at_once{};
          if (::sigtimedwait(&signal, nullptr, &at_once) != SIGXFSZ) return 2;
          ::pthread_sigmask(SIG_UNBLOCK, &signal, nullptr);
          return 0;
        }) == 0);
}

TEST_CASE("no file takes the place of a device, pipe or folder, and no lock file lies beside one") {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(replace_file(pipe, "text").error().message ==
        "cannot write " + pipe.string() + ": it is a pipe, socket or device");
  CHECK(std::filesystem::is_fifo(pipe));
  const auto missing = folder.path() / "none" / "file";
  CHECK(replace_file(missing, "text").error().message ==
        "cannot write " + missing.string() + ": No such file or directory");
  const auto soon = std::chrono::steady_clock::now();
  CHECK_FALSE(tuning::FileLock::take(pipe, ".lock", soon));
  CHECK_FALSE(tuning::FileLock::take(folder.path(), ".lock", soon));
  CHECK_FALSE(std::filesystem::exists(pipe.string() + ".lock"));
  CHECK_FALSE(std::filesystem::exists(folder.path().string() + ".lock"));
}

}  // namespace tma_jit
