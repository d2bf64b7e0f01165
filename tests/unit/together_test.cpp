#include "base/together.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include <doctest/doctest.h>

namespace tma_jit {
namespace {

constexpr uid_t kNobody = 65534;
constexpr int kSkipped = 77;

// Returns how often the work ran in a process that may start no thread.
int runs_without_threads() {
  if (::geteuid() == 0 && ::setuid(kNobody) != 0) return kSkipped;
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_NPROC, &none) != 0) return kSkipped;
  std::atomic<int> runs = 0;
  run_together(7, [&] { ++runs; });
  return runs;
}

}  // namespace

TEST_CASE("work is done by as many threads as were asked for, or as the system starts") {
  std::atomic<int> runs = 0;
  run_together(7, [&] { ++runs; });
  CHECK(runs == 8);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(runs_without_threads());
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) != kSkipped) CHECK(WEXITSTATUS(status) == 1);
}

}  // namespace tma_jit
