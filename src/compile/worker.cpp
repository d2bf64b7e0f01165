#include "compile/worker.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "core/failure.h"

namespace tma_jit::compile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLogBytes = 4096;  // the last bytes kept of a worker's stderr
constexpr std::chrono::milliseconds kEndPatience{1000};

std::string seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000);
}

// A limit that is too large to be represented is never reached.
Clock::time_point after(Clock::time_point start, std::chrono::milliseconds time) {
  if (time <= std::chrono::milliseconds::zero()) return start;
  const auto most = std::chrono::floor<std::chrono::milliseconds>(Clock::time_point::max() - start);
  return time < most ? start + time : Clock::time_point::max();
}

}  // namespace

Answer<Worker> Worker::start(const Settings& settings) {
  auto process = Process::start(settings.command);
  if (!process) {
    return tl::make_unexpected(
        WorkerFailure{WorkerFailure::Kind::absent, process.error().message, {}, process.error()});
  }
  Worker worker(std::move(*process));
  auto frame = worker.receive(FrameKind::greeting, after(Clock::now(), settings.start_limit));
  if (!frame) {
    WorkerFailure fault = std::move(frame).error();
    if (fault.kind == WorkerFailure::Kind::timed_out)
      fault.text = "no greeting within " + seconds(settings.start_limit);
    return tl::make_unexpected(std::move(fault));
  }
  std::optional<Greeting> greeting = greeting_in(frame->payload);
  if (!greeting)
    return tl::make_unexpected(worker.failed(WorkerFailure::Kind::malformed, "its greeting cannot be read"));
  if (greeting->fault) {
    WorkerFailure fault = worker.failed(WorkerFailure::Kind::unable, greeting->fault->message);
    fault.error = std::move(*greeting->fault);
    return tl::make_unexpected(std::move(fault));
  }
  worker.facts_ = std::move(greeting->facts);
  return worker;
}

Answer<WorkerOutcome> Worker::run(std::string_view job, const Settings& settings,
                                  const std::function<void()>& on_slow) {
  to_send_ = to_bytes(FrameKind::job, job);
  log_.clear();
  ++jobs_;
  if (auto started = receive(FrameKind::started, after(Clock::now(), settings.slot_limit)); !started) {
    WorkerFailure fault = std::move(started).error();
    if (fault.kind == WorkerFailure::Kind::timed_out)
      fault.text = "no compile slot within " + seconds(settings.slot_limit);
    return tl::make_unexpected(std::move(fault));
  }
  return outcome(settings, on_slow);
}

Answer<WorkerOutcome> Worker::outcome(const Settings& settings, const std::function<void()>& on_slow) {
  const Clock::time_point start = Clock::now();
  const bool may_be_slow = on_slow && settings.slow < settings.compile_limit;
  auto frame = receive(FrameKind::outcome, after(start, may_be_slow ? settings.slow : settings.compile_limit));
  if (!frame && frame.error().kind == WorkerFailure::Kind::timed_out && may_be_slow) {
    on_slow();
    frame = receive(FrameKind::outcome, after(start, settings.compile_limit));
  }
  if (!frame) {
    WorkerFailure fault = std::move(frame).error();
    if (fault.kind == WorkerFailure::Kind::timed_out)
      fault.text = "no answer within " + seconds(settings.compile_limit);
    if (fault.kind == WorkerFailure::Kind::idle) fault.kind = WorkerFailure::Kind::crashed;  // because it had begun
    return tl::make_unexpected(std::move(fault));
  }
  std::optional<WorkerOutcome> outcome = outcome_in(frame->payload);
  if (!outcome) return tl::make_unexpected(failed(WorkerFailure::Kind::malformed, "its answer cannot be read"));
  if (outcome->outcome.verdict == Verdict::out_of_memory) {
    return tl::make_unexpected(failed(WorkerFailure::Kind::out_of_memory, "out of memory"));
  }
  return std::move(*outcome);
}

Answer<Frame> Worker::receive(FrameKind kind, Clock::time_point limit) {
  for (bool open = true;; open = exchange(limit)) {
    auto frame = reader_.next();
    if (!frame && frame.error().code == ErrorCode::unsupported) {
      return tl::make_unexpected(failed(WorkerFailure::Kind::absent, "it sent " + frame.error().message));
    }
    if (!frame) return tl::make_unexpected(failed(WorkerFailure::Kind::malformed, "it sent " + frame.error().message));
    if (*frame && (*frame)->kind != kind) {
      return tl::make_unexpected(failed(WorkerFailure::Kind::malformed, "it sent an answer out of turn"));
    }
    if (*frame) return std::move(**frame);
    if (!open) return tl::make_unexpected(ended());
    if (Clock::now() >= limit)
      return tl::make_unexpected(WorkerFailure{WorkerFailure::Kind::timed_out, {}, log_tail(), {}});
  }
}

bool Worker::exchange(Clock::time_point limit) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now()).count();
  const auto wait = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  const auto wanted = static_cast<short>(to_send_.empty() ? POLLIN : POLLIN | POLLOUT);
  pollfd ends[] = {{process_.socket(), wanted, 0}, {errors_open_ ? process_.errors() : -1, POLLIN, 0}};
  if (::poll(ends, 2, wait) < 0) return errno == EINTR;
  if (ends[1].revents != 0) errors_open_ = read_errors();
  if ((ends[0].revents & POLLOUT) != 0) send_some();
  if ((ends[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) return read_socket();
  return true;
}

void Worker::send_some() {
  const ssize_t sent = ::send(process_.socket(), to_send_.data(), to_send_.size(), MSG_NOSIGNAL);
  if (sent > 0) to_send_.erase(0, static_cast<std::size_t>(sent));
  if (sent < 0 && errno != EAGAIN && errno != EINTR)
    to_send_.clear();  // a later read notices that the worker has
                       // ended
}

bool Worker::read_socket() {
  char block[8192];  // on the stack of a thread of the program, which may be small
  while (true) {
    const ssize_t got = ::recv(process_.socket(), block, sizeof block, 0);
    if (got > 0) reader_.append({block, static_cast<std::size_t>(got)});
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (got < static_cast<ssize_t>(sizeof block)) return true;
  }
}

// Reads all that the pipe holds, since a worker's last words are at its end; at most 4 MiB, more than a pipe holds,
// because a process that the worker started may hold the pipe and write on.
bool Worker::read_errors() {
  char block[4096];
  for (int blocks = 0; blocks < 1024; ++blocks) {
    const ssize_t got = ::read(process_.errors(), block, sizeof block);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    log_.append(block, static_cast<std::size_t>(got));
    if (log_.size() > 2 * kLogBytes) log_.erase(0, log_.size() - kLogBytes);
  }
  return true;
}

bool Worker::waits() const {
  pollfd socket{process_.socket(), POLLIN | POLLRDHUP, 0};
  return ::poll(&socket, 1, 0) == 0;
}

std::string Worker::log_tail() const {
  return std::string(trimmed(std::string_view(log_).substr(log_.size() - std::min(log_.size(), kLogBytes))));
}

WorkerFailure Worker::failed(WorkerFailure::Kind kind, std::string text) {
  read_errors();
  process_.end();
  return {kind, std::move(text), log_tail(), {}};
}

// Its end of the socket is closed: it is ending, or has ended.
WorkerFailure Worker::ended() {
  const ProcessEnd end = process_.end(kEndPatience);
  if (reader_.in_frame()) return failed(WorkerFailure::Kind::malformed, "half an answer, then " + end.text());
  if (end.clean()) return failed(WorkerFailure::Kind::idle, "it had ended");
  const auto kind = end.signal == SIGKILL ? WorkerFailure::Kind::killed : WorkerFailure::Kind::crashed;
  return failed(kind, end.text());
}

}  // namespace tma_jit::compile
