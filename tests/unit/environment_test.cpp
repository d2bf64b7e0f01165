#include "base/environment.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include <doctest/doctest.h>

#include "cache/default_folder.h"
#include "compile/locate.h"
#include "support/temporary_folder.h"

namespace tma_jit {
namespace {

constexpr const char* kNames[] = {"TMA_JIT_COMPILER",  "TMA_JIT_DISABLE_TMA",   "TMA_JIT_EMULATOR",
                                  "TMA_JIT_CACHE_DIR", "TMA_JIT_NVRTC",         "TMA_JIT_TEMPLATES",
                                  "TMA_JIT_CACHE_RO",  "TMA_JIT_RECORD_MISSES", "TMA_JIT_RECORD_REQUESTS",
                                  "TMA_JIT_WORKER",    "TMA_JIT_PACK_KEYS",     "HOME",
                                  "XDG_CACHE_HOME",    "XDG_RUNTIME_DIR",       "CUDA_HOME",
                                  "CUDA_PATH",         "VIRTUAL_ENV",           "CONDA_PREFIX",
                                  "LD_LIBRARY_PATH"};

// What a child of this process finds, in which every variable is set.
int in_child(const std::function<int()>& look) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const char* name : kNames) ::setenv(name, "/from/the/caller", 1);
    ::_exit(look());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// How many members name what the caller chose.
int chosen_by_caller() {
  const ProcessEnvironment read = ProcessEnvironment::read();
  int count = 0;
  for (const std::string* text : {&read.compiler, &read.disable_tma, &read.emulator}) count += text->empty() ? 0 : 1;
  for (const auto* path : {&read.cache_dir, &read.nvrtc, &read.record_misses, &read.record_requests, &read.worker,
                           &read.home, &read.xdg_cache_home, &read.xdg_runtime_dir}) {
    count += path->empty() ? 0 : 1;
  }
  for (const auto* paths : {&read.cache_read_only, &read.pack_keys, &read.templates, &read.library_path, &read.toolkits,
                            &read.python_environments}) {
    count += static_cast<int>(paths->size());
  }
  return count + (read.words.empty() ? 0 : 1);
}

bool take_other_rights() {
  return ::setegid(65534) == 0 && ::seteuid(65534) == 0;
}

}  // namespace

TEST_CASE("the environment is read whole") {
  CHECK(in_child(chosen_by_caller) == std::size(kNames) + 1);
}

TEST_CASE("a program with raised privileges takes nothing from its caller's environment") {
  if (::geteuid() != 0) {
    MESSAGE("needs root: not tried");
    return;
  }
  CHECK(in_child([] { return take_other_rights() ? chosen_by_caller() : 99; }) == 0);
  CHECK(in_child([] {
          if (!take_other_rights()) return 99;
          const ProcessEnvironment read = ProcessEnvironment::read();
          const compile::Places places = compile::Places::usual(read);
          const bool system_only = places.wanted.empty() && places.toolkits.empty() && places.environments.empty();
          return system_only && cache::default_folder(read).empty() ? 0 : 1;
        }) == 0);
}

// Not a test by itself: what the next one starts as a program of another user's.
TEST_CASE("child: counts what its environment chose" * doctest::skip()) {
  ::_exit(has_raised_privileges() ? chosen_by_caller() : 98);
}

TEST_CASE("a set-user-id program takes nothing from its caller's environment") {
  const TemporaryFolder folder;
  struct statvfs where {};
  ::statvfs(folder.path().c_str(), &where);
  if (::geteuid() != 0 || (where.f_flag & ST_NOSUID) != 0) {
    MESSAGE("needs root and a file system with set-user-id programs: not tried");
    return;
  }
  const std::filesystem::path program = folder.path() / "program";
  REQUIRE(std::filesystem::copy_file("/proc/self/exe", program));
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  const auto run_as_nobody = [&](mode_t mode) {
    REQUIRE(::chmod(program.c_str(), mode) == 0);
    return in_child([&] {
      ::dup2(::open("/dev/null", O_RDWR), STDOUT_FILENO);
      ::unsetenv("TSAN_OPTIONS");  // names a file of suppressions, which the other user may not be allowed to read
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 99;
      ::execl(program.c_str(), "program", "--no-skip", "-tc=child: counts*", nullptr);
      return 97;
    });
  };
  CHECK(run_as_nobody(04755) == 0);
  CHECK(run_as_nobody(0755) == 98);  // without the bit it is no such program
}

}  // namespace tma_jit
