// Forks while other threads are at work: in the dynamic loader, the cache, the planner and the log. A child makes an
// engine of its own and uses all of that again; none may hang.
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <tma_jit/engine.h>

#include "base/library.h"
#include "base/log.h"
#include "scenario.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

constexpr unsigned kHangSeconds = 30;
constexpr const char* kLibraries[] = {"libcrypto.so.3", "libz.so.1", "libzstd.so.1", "libanl.so.1"};

enum class Loading : std::uint8_t { by_library, by_program };

// Whoever loads libraries: this library, or the program with dlopen. The second cannot be held back while a fork
// happens.
void load_libraries(Loading loading, unsigned number) {
  const char* name = kLibraries[number % std::size(kLibraries)];
  if (loading == Loading::by_library) {
    if (const Result<Library> library = Library::open(name)) (void)library->symbol("tma_jit_no_such_function");
  } else if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    ::dlclose(handle);
  }
}

Options options_for(const std::filesystem::path& root) {
  Options options;
  options.device = Device::known("h100");
  options.cache_dir = root;
  options.log = [](LogLevel, std::string_view) {};
  return options;
}

// 0: all done. 1: a library was refused with words, which is right where the program loaded one during the fork.
int use_everything(const std::filesystem::path& root, unsigned number) {
  Engine engine(options_for(root));
  const auto plan = engine.plan({.kernel = "copy", .dims = {{"N", 4096 + number}}});
  if (!plan || !engine.emit(*plan)) return 2;
  (void)engine.key(*plan);  // looks for NVRTC
  const auto counts = std::make_unique<Counts>();
  cache::Layers layers(settings_for(root, *counts));
  obtain(layers, number % 64, {.compile_us = 0, .bytes = 500}, *counts);
  if (counts->wrong != 0 || counts->unsound != 0) return 3;
  make_logger(spdlog::level::warn, [](spdlog::level::level_enum, std::string_view) {})->warn("{}", number);
  std::thread([] {}).join();
  const auto library = Library::open("libBrokenLocale.so.1");
  return !library && library.error().code == ErrorCode::unsupported ? 1 : 0;
}

struct Tally {
  unsigned done = 0, refused = 0, hung = 0, failed = 0;
};

void fork_once(const std::filesystem::path& root, unsigned number, Tally& tally) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGALRM, SIG_DFL);
    ::alarm(kHangSeconds);
    ::_exit(use_everything(root, number));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    ++(WTERMSIG(status) == SIGALRM ? tally.hung : tally.failed);
  } else {
    ++(WEXITSTATUS(status) == 0 ? tally.done : WEXITSTATUS(status) == 1 ? tally.refused : tally.failed);
  }
}

void fork_under_load(Loading loading, unsigned times, double seconds, Report& report) {
  const TemporaryFolder folder;
  const auto root = folder.path() / "cache";
  std::atomic<bool> stop = false;
  std::vector<std::thread> load;
  const auto repeat = [&](auto work) {
    load.emplace_back([&stop, work] {
      for (unsigned i = 0; !stop; ++i) work(i);
    });
  };
  repeat([&](unsigned i) { load_libraries(loading, i); });
  repeat([&](unsigned i) { (void)use_everything(root, i); });
  repeat([&](unsigned) { std::this_thread::sleep_for(std::chrono::microseconds(100)); });
  Tally tally;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  unsigned done = 0;
  for (; done < times && (seconds == 0 || Clock::now() < end); ++done) fork_once(root, done, tally);
  stop = true;
  for (std::thread& thread : load) thread.join();
  report.row("{} forks beside {}: {} children did all, {} were refused libraries, {} hung, {} failed", done,
             loading == Loading::by_library ? "this library's dlopen" : "the program's own dlopen", tally.done,
             tally.refused, tally.hung, tally.failed);
  report.equal(tally.hung, 0, "children that hang");
  report.equal(tally.failed, 0, "children that fail");
  if (loading == Loading::by_library) report.equal(tally.refused, 0, "children refused a library");
}

}  // namespace

void forks(const Budget& budget, Report& report) {
  fork_under_load(Loading::by_library, budget.pick(200, 10'000), budget.seconds, report);
  fork_under_load(Loading::by_program, budget.pick(50, 1'000), budget.seconds, report);
}

}  // namespace tma_jit::stress
