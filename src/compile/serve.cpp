#include "compile/serve.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <fstream>
#include <new>
#include <thread>

#include "base/descriptor.h"
#include "compile/frame.h"
#include "compile/program.h"

namespace tma_jit::compile {
namespace {

constexpr int kSocket = 0;
constexpr int kFailed = 3;
constexpr std::chrono::milliseconds kWatchInterval{1000};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // sanitizers reserve terabytes of address space
#else
constexpr bool kSanitized = false;
#endif

// The program reports a crash, so that no core file of the compiler's size is needed. When memory runs out, the system
// should end this process rather than the program.
void limit_self(std::uint64_t memory_bytes) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  if (memory_bytes == 0 || kSanitized) return;
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, memory_bytes);
  ::setrlimit(RLIMIT_AS, &limit);
}

// Ends this process when its program ends, even during a compile. PR_SET_PDEATHSIG would also fire when only the thread
// that started the worker ends. The parent's process id is polled, because a fork of the program may keep the other end
// of the socket open.
void watch_program(pid_t program) {
  std::thread([program] {
    pollfd socket{kSocket, POLLRDHUP, 0};
    while (true) {
      ::poll(&socket, 1, static_cast<int>(kWatchInterval.count()));
      if ((socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0 || ::getppid() != program) ::_exit(0);
    }
  }).detach();
}

bool send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(kSocket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Returns nullopt if the program has ended, or sent no job for too long.
std::optional<Frame> next_frame(FrameReader& reader, std::chrono::milliseconds idle) {
  char block[65536];
  while (true) {
    auto frame = reader.next();
    if (!frame) throw std::runtime_error(frame.error().message);
    if (*frame) return std::move(*frame);
    pollfd socket{kSocket, POLLIN, 0};
    const int ready = ::poll(&socket, 1, static_cast<int>(std::clamp<std::int64_t>(idle.count(), 0, INT_MAX)));
    if (ready == 0) return std::nullopt;
    const ssize_t got = ready < 0 ? -1 : ::recv(kSocket, block, sizeof block, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    reader.append({block, static_cast<std::size_t>(got)});
  }
}

// This process's memory, from /proc/self/statm, which is kept open because a confined worker can open no files.
class Memory {
 public:
  std::uint64_t resident_bytes() const {
    char text[128] = {};
    unsigned long long total = 0, resident = 0;
    if (::pread(file_.get(), text, sizeof text - 1, 0) <= 0) return 0;
    if (std::sscanf(text, "%llu %llu", &total, &resident) != 2) return 0;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }

 private:
  const Descriptor file_{::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)};
};

// What must be opened before the worker is confined.
struct Resources {
  explicit Resources(const Slots::Settings& settings) : slots(settings) {}
  Slots slots;
  Memory memory;
};

Outcome compile(const Service& service, const Job& job) {
  try {
    return service.compile(job);
  } catch (const std::bad_alloc&) {
    Outcome outcome;
    outcome.verdict = Verdict::out_of_memory;
    return outcome;
  }
}

int serve_jobs(std::chrono::milliseconds idle, const Service& service, Resources& resources) {
  FrameReader reader;
  while (const std::optional<Frame> frame = next_frame(reader, idle)) {
    const std::optional<WorkerJob> job = frame->kind == FrameKind::job ? job_in(frame->payload) : std::nullopt;
    if (!job) throw std::runtime_error("not a job");
    resources.slots.take(job->alone);
    if (!send_all(to_bytes(FrameKind::started, {}))) return 0;
    const Outcome outcome = compile(service, job->job);
    resources.slots.release();
    if (!send_all(to_bytes(FrameKind::outcome, to_payload(WorkerOutcome{outcome, resources.memory.resident_bytes()}))))
      return 0;
  }
  return 0;
}

}  // namespace

int serve(const ServeSettings& settings, const std::function<Service()>& make) {
  try {
    limit_self(settings.memory_bytes);
    watch_program(::getppid());
    Resources resources(settings.slots);
    const Service service = make();
    if (!send_all(to_bytes(FrameKind::greeting, to_payload(service.greeting)))) return 0;
    return service.greeting.fault ? 0 : serve_jobs(settings.idle, service, resources);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "compile worker: %s\n", fault.what());
    return kFailed;
  }
}

Service nvrtc_service(const std::filesystem::path& nvrtc) {
  auto runner = run_in_process(nvrtc);
  if (!runner) return {{{}, std::move(runner).error()}, {}};
  return {{(*runner)->facts(), {}}, [runner = *runner](const Job& job) { return runner->run(job).value(); }};
}

}  // namespace tma_jit::compile
