#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include "worker_fixture.h"

namespace tma_jit::compile {
namespace {

using Clock = std::chrono::steady_clock;

// Allows for a machine with other work to do; the limits of workers that are not asked to be short are minutes.
constexpr std::chrono::seconds kSoon{30};

// Of a child of this process, which its pool collects later.
void wait_for_end(pid_t child) {
  siginfo_t end{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT) == 0);
}

bool exists(pid_t pid) {
  return ::kill(pid, 0) == 0;
}

}  // namespace

TEST_CASE("a worker starts with nothing of its program's: descriptors, signals, group") {
  WorkerBench bench;
  sigset_t usr, before;
  ::sigemptyset(&usr);
  ::sigaddset(&usr, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &usr, &before);
  const auto old = ::signal(SIGUSR2, SIG_IGN);
  const int leaky = ::open("/dev/null", O_RDONLY);  // NOLINT: without O_CLOEXEC, as programs do
  const auto pool = bench.open();
  const auto outcome = pool->run(job_of("FAULT(echo)"));
  ::close(leaky);
  ::signal(SIGUSR2, old);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  REQUIRE_MESSAGE(outcome, outcome.error().text());
  const std::string& log = outcome->log;
  INFO(log);
  CHECK(log.find("blocked") == std::string::npos);
  CHECK(log.find("ignored") == std::string::npos);
  CHECK(log.find("own group") != std::string::npos);
  CHECK(log.find("/dev/null") == std::string::npos);
  CHECK(fact(log, "fd 0").starts_with("socket:"));
  CHECK(fact(log, "fd 2").starts_with("pipe:"));
  CHECK(fact(log, "fd 3").ends_with("slots"));
  CHECK(fact(log, "fd 4").empty());
  CHECK(fact(log, "oom") == "1000");
  CHECK(fact(log, "core") == "0");
}

TEST_CASE("one worker serves job after job, and a job of many megabytes") {
  WorkerBench bench;
  const auto pool = bench.open();
  std::set<std::string> workers;
  for (int i = 0; i < 5; ++i) {
    Job job = job_of("FAULT(echo)");
    job.source.headers = {{"device/a.cuh", std::string(std::size_t{3} << 20, '/')}};
    const auto outcome = pool->run(job);
    REQUIRE_MESSAGE(outcome, outcome.error().text());
    workers.insert(fact(outcome->log, "pid"));
  }
  CHECK(workers.size() == 1);
  CHECK(pool->counts().started == 1);
  CHECK(pool->counts().lost == 0);
}

TEST_CASE("workers made ready before any job are no more than there may be, and jobs start no others") {
  WorkerBench bench;
  const auto pool = bench.open();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 10; ++i) threads.emplace_back([&] { pool->make_ready(); });
  threads.clear();
  CHECK(pool->counts().started == 4);
  std::mutex mutex;
  std::set<std::string> workers;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto outcome = pool->run(job_of("FAULT(echo)"));
      const std::lock_guard lock(mutex);
      workers.insert(outcome ? fact(outcome->log, "pid") : outcome.error().text());
    });
  }
  threads.clear();
  CHECK(workers.size() <= 4);
  CHECK(pool->counts().started == 4);
  CHECK(pool->counts().lost == 0);
}

TEST_CASE("whatever happens to a worker once costs a retry and a warning; twice, an error that says what it was") {
  struct Case {
    const char* what;
    const char* message;
  };
  for (const Case& of : {Case{"segv", "crashed twice: SIGSEGV"}, Case{"abort", "crashed twice: SIGABRT"},
                         Case{"kill", "killed twice: SIGKILL"}, Case{"exit", "crashed twice: exit status 7"},
                         Case{"garbage", "malformed answer: it sent not a frame"}, Case{"half", "half an answer"},
                         Case{"flood", "an answer out of turn"}, Case{"hang", "hangs: no answer within 2 s"}}) {
    CAPTURE(of.what);
    WorkerBench bench;
    if (std::string_view(of.what) == "hang") bench.settings.worker.compile_limit = std::chrono::seconds(2);
    const auto pool = bench.open();
    const auto mended = pool->run(job_of(bench.once(of.what) + "FAULT(echo)"));
    CHECK_MESSAGE(mended, mended.error().text());
    CHECK(pool->counts().lost == 1);
    CHECK(pool->counts().started == 2);
    CHECK(bench.warnings.size() == 1);
    const auto broken = pool->run(job_of("FAULT(" + std::string(of.what) + ")"));
    REQUIRE(!broken);
    CHECK(broken.error().code == ErrorCode::crash);
    CHECK_MESSAGE(broken.error().message.find(of.message) != std::string::npos, broken.error().message);
    CHECK(pool->counts().lost == 3);
    CHECK(pool->run(job_of("FAULT(echo)")));  // the next one is not harmed
  }
}

TEST_CASE("a hang ends soon after its limit, and the worker is gone") {
  WorkerBench bench;
  bench.settings.worker.compile_limit = std::chrono::seconds(2);
  const auto pool = bench.open();
  const auto echoed = pool->run(job_of("FAULT(echo)"));
  REQUIRE(echoed);
  const auto worker = static_cast<pid_t>(std::stol(fact(echoed->log, "pid")));
  const Clock::time_point start = Clock::now();
  CHECK(!pool->run(job_of("FAULT(hang)")));
  CHECK(Clock::now() - start < kSoon);
  CHECK(!exists(worker));
}

TEST_CASE("its memory limit ends a worker's compile, not the program's") {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  WorkerBench bench({"--memory", "600000000"});
  bench.settings.memory_bytes = 600'000'000;
  const auto pool = bench.open();
  const auto outcome = pool->run(job_of("FAULT(memory)"));
  REQUIRE(!outcome);
  CHECK(outcome.error().code == ErrorCode::crash);
  CHECK_MESSAGE(outcome.error().message.find("out of memory twice (limit 572 MiB)") != std::string::npos,
                outcome.error().message);
  CHECK(pool->run(job_of("FAULT(echo)")));
#endif
}

TEST_CASE("the last words of a worker are in the error, however much it said before") {
  WorkerBench bench;
  const auto pool = bench.open();
  for (int times = 0; times < 5; ++times) {
    const auto outcome = pool->run(job_of("FAULT(chatter)"));
    REQUIRE(!outcome);
    CHECK_MESSAGE(outcome.error().detail.find("these are my last words") != std::string::npos, outcome.error().detail);
    CHECK(outcome.error().detail.size() < 5000);
  }
}

TEST_CASE("others beside a crash are not harmed") {
  WorkerBench bench;
  const auto pool = bench.open();
  std::atomic<int> good = 0, bad = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        const auto outcome = pool->run(job_of(i % 4 == 0 ? "FAULT(segv)" : "FAULT(echo)"));
        ++(outcome ? good : bad);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 30);
  CHECK(bad == 10);
  CHECK(pool->counts().lost == 20);
}

TEST_CASE("a slow compile is told of while it goes on") {
  WorkerBench bench;
  bench.settings.worker.slow = std::chrono::milliseconds(50);
  const auto told = bench.release_when_told();
  const auto pool = bench.open();
  CHECK(pool->run(job_of(told + "FAULT(echo)")));
  REQUIRE(bench.warnings.size() == 1);
  CHECK(bench.warnings[0].find("k for sm_90a: the compiler has been at it for") != std::string::npos);
}

TEST_CASE("limits that are too far away to be written are never reached") {
  WorkerBench bench;
  bench.settings.worker.start_limit = bench.settings.worker.slot_limit = bench.settings.worker.compile_limit =
      std::chrono::milliseconds::max();
  bench.settings.worker.slow = std::chrono::milliseconds(50);
  const auto told = bench.release_when_told();
  const auto pool = bench.open();
  CHECK(pool->run(job_of(told + "FAULT(echo)")));
  CHECK(bench.warnings.size() == 1);
}

TEST_CASE("a worker is replaced after so many jobs, and when it has grown too large") {
  WorkerBench bench;
  bench.settings.jobs_per_worker = 3;
  const auto pool = bench.open();
  std::set<std::string> workers;
  for (int i = 0; i < 7; ++i) workers.insert(fact(pool->run(job_of("FAULT(echo)"))->log, "pid"));
  CHECK(workers.size() == 3);
  CHECK(pool->counts().lost == 0);
  bench.settings.resident_bytes = 1;
  const auto other = bench.open();
  for (int i = 0; i < 3; ++i) CHECK(other->run(job_of("FAULT(echo)")));
  CHECK(other->counts().started == 3);
}

TEST_CASE("an idle worker ends itself, and the next job gets another without being told") {
  WorkerBench bench({"--idle-ms", "300"});
  const auto pool = bench.open();
  for (int i = 0; i < 3; ++i) {
    const auto echoed = pool->run(job_of("FAULT(echo)"));
    REQUIRE_MESSAGE(echoed, echoed.error().text());
    wait_for_end(static_cast<pid_t>(std::stol(fact(echoed->log, "pid"))));
  }
  CHECK(pool->counts().lost == 0);
  CHECK(pool->counts().started >= 3);
  CHECK(bench.warnings.empty());
}

TEST_CASE("no more workers than allowed, and no more compiles than slots, over all pools") {
  WorkerBench bench;
  bench.settings.workers = 2;
  bench.settings.worker.command.arguments[3] = "1";
  const auto one = bench.open();
  const auto two = bench.open();
  const Clock::time_point start = Clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] { CHECK((i % 2 == 0 ? one : two)->run(job_of("FAULT(slow) FAULT(echo)"))); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(Clock::now() - start >= std::chrono::milliseconds(6 * 300));  // one after the other
  CHECK(one->counts().started <= 2);
  CHECK(two->counts().started <= 2);
}

TEST_CASE("a killed worker's slot is free at once") {
  WorkerBench bench;
  bench.settings.worker.command.arguments[3] = "1";
  const auto patient = bench.open();
  bench.settings.worker.compile_limit = std::chrono::milliseconds(100);
  CHECK(!bench.open()->run(job_of("FAULT(hang)")));
  const Clock::time_point start = Clock::now();
  CHECK(patient->run(job_of("FAULT(echo)")));
  CHECK(Clock::now() - start < kSoon);
}

TEST_CASE("a worker that does not greet properly cannot be opened") {
  struct Case {
    const char* greeting;
    WorkerFailure::Kind kind;
    const char* text;
  };
  for (const Case& of : {Case{"none", WorkerFailure::Kind::timed_out, "no greeting within 0.3 s"},
                         Case{"garbage", WorkerFailure::Kind::malformed, "not a frame"},
                         Case{"exit", WorkerFailure::Kind::crashed, "exit status 5"},
                         Case{"unable", WorkerFailure::Kind::unable, "NVRTC is too old"}}) {
    CAPTURE(of.greeting);
    WorkerBench bench({std::string("--greeting=") + of.greeting});
    bench.settings.worker.start_limit =
        std::chrono::milliseconds(of.kind == WorkerFailure::Kind::timed_out ? 300 : 30'000);
    const auto opened = WorkerPool::open(bench.settings);
    REQUIRE(!opened);
    CHECK(opened.error().kind == of.kind);
    CHECK_MESSAGE(opened.error().text.find(of.text) != std::string::npos, opened.error().text);
  }
  WorkerBench bench;
  bench.settings.worker.command.program = bench.folder.path() / "none";
  const auto opened = WorkerPool::open(bench.settings);
  REQUIRE(!opened);
  CHECK(opened.error().kind == WorkerFailure::Kind::absent);
  CHECK(opened.error().text.find("No such file") != std::string::npos);
}

TEST_CASE("workers end with their pool, and with their program in the middle of a compile") {
  WorkerBench bench;
  auto pool = bench.open();
  const auto idle = static_cast<pid_t>(std::stol(fact(pool->run(job_of("FAULT(echo)"))->log, "pid")));
  CHECK(exists(idle));
  pool.reset();
  CHECK(!exists(idle));

  int pipe[2];
  REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
  const pid_t program = ::fork();
  REQUIRE(program >= 0);
  if (program == 0) {  // a program that is killed while its worker compiles
    auto own = bench.open();
    const auto echoed = own->run(job_of("FAULT(echo)"));
    const auto worker = static_cast<pid_t>(std::stol(fact(echoed->log, "pid")));
    if (::write(pipe[1], &worker, sizeof worker) != sizeof worker) ::_exit(1);
    (void)own->run(job_of("FAULT(hang)"));
    ::_exit(0);
  }
  pid_t worker = 0;
  REQUIRE(::read(pipe[0], &worker, sizeof worker) == sizeof worker);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  const Clock::time_point limit = Clock::now() + kSoon;
  while (exists(worker) && Clock::now() < limit) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(!exists(worker));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_CASE("a fork's child has workers of its own and leaves its parent's alone") {
  WorkerBench bench;
  const auto pool = bench.open();
  const std::string before = fact(pool->run(job_of("FAULT(echo)"))->log, "pid");
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto outcome = pool->run(job_of("FAULT(echo)"));
    ::_exit(outcome && fact(outcome->log, "pid") != before ? 0 : 1);
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(fact(pool->run(job_of("FAULT(echo)"))->log, "pid") == before);
}

TEST_CASE("a program that collects its children itself, or has closed its standard descriptors, is served too") {
  WorkerBench bench;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGCHLD, SIG_IGN);
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    const auto pool = WorkerPool::open(bench.settings);
    if (!pool) ::_exit(1);
    const auto outcome = (*pool)->run(job_of("FAULT(echo)"));
    if (!outcome || !fact(outcome->log, "fd 0").starts_with("socket:")) ::_exit(2);
    const auto broken = (*pool)->run(job_of("FAULT(segv)"));
    if (broken || broken.error().code != ErrorCode::crash) ::_exit(3);
    ::_exit((*pool)->run(job_of("FAULT(echo)")) ? 0 : 4);
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace tma_jit::compile
