#include "compile/worker_pool.h"

#include "compile/slots.h"
#include "core/failure.h"

namespace tma_jit::compile {
namespace {

using Kind = WorkerFailure::Kind;

bool is_memory(Kind kind) {
  return kind == Kind::out_of_memory || kind == Kind::killed;
}

ErrorReason reason_of(Kind kind) {
  switch (kind) {
    case Kind::absent:
    case Kind::unable:
    case Kind::idle:
    case Kind::malformed: return ErrorReason::compiler_lost;
    case Kind::timed_out: return ErrorReason::compiler_hung;
    case Kind::out_of_memory: return ErrorReason::compiler_memory;
    case Kind::killed: return ErrorReason::compiler_killed;
    case Kind::crashed: return ErrorReason::compiler_crashed;
  }
  return ErrorReason::compiler_crashed;
}

// Returns whether the failure is not the job's: the worker had ended before it took the job, or none could be started.
bool before_job(Kind kind) {
  return kind == Kind::absent || kind == Kind::unable || kind == Kind::idle;
}

}  // namespace

Answer<std::shared_ptr<WorkerPool>> WorkerPool::open(Settings settings) {
  if (settings.workers <= 0) settings.workers = default_slots();
  auto pool = std::make_shared<WorkerPool>(std::move(settings));
  auto first = pool->start();
  if (!first) return tl::make_unexpected(std::move(first).error());
  pool->facts_ = first->facts();
  pool->members_.get().idle.push_back(std::move(*first));
  return pool;
}

std::string WorkerPool::place() const {
  return settings_.worker.command.program.string();
}

Answer<Worker> WorkerPool::start() {
  auto worker = Worker::start(settings_.worker);
  if (!worker) return worker;
  ++started_;
  Members& members = members_.get();
  const std::lock_guard lock(members.mutex);
  members.identity = worker->facts().identity;
  return worker;
}

// Returns a worker, which counts as busy until `give_back` or `lose`.
Answer<Worker> WorkerPool::acquire(bool fresh) {
  Members& members = members_.get();
  {
    std::unique_lock lock(members.mutex);
    members.freed.wait(lock, [&] { return members.busy < settings_.workers; });
    ++members.busy;
    const auto fit = [&](const Worker& worker) {
      return worker.facts().identity == members.identity && worker.waits();
    };
    while (!members.idle.empty() && !fit(members.idle.back())) members.idle.pop_back();
    if (!fresh && !members.idle.empty()) {
      Worker worker = std::move(members.idle.back());
      members.idle.pop_back();
      return worker;
    }
  }
  auto worker = start();
  if (!worker) lose();
  return worker;
}

void WorkerPool::make_ready() {
  Members& members = members_.get();
  {
    const std::lock_guard lock(members.mutex);
    if (members.busy + static_cast<int>(members.idle.size()) >= settings_.workers) return;
    ++members.busy;
  }
  auto worker = start();
  if (!worker) return lose();
  give_back(std::move(*worker), 0);
}

void WorkerPool::give_back(Worker worker, std::uint64_t resident_bytes) {
  const bool spent = worker.jobs() >= settings_.jobs_per_worker || resident_bytes >= settings_.resident_bytes;
  Members& members = members_.get();
  {
    const std::lock_guard lock(members.mutex);
    --members.busy;
    if (!spent) members.idle.push_back(std::move(worker));
  }
  members.freed.notify_one();
}

void WorkerPool::lose() {
  Members& members = members_.get();
  {
    const std::lock_guard lock(members.mutex);
    --members.busy;
  }
  members.freed.notify_one();
}

Answer<Outcome> WorkerPool::attempt(const Job& job, bool fresh, bool alone) {
  auto worker = acquire(fresh);
  if (!worker) return tl::make_unexpected(std::move(worker).error());
  const auto slow = [&] {
    if (!settings_.warn) return;
    settings_.warn(fmt::format("{} for {}: the compiler has been at it for {} s", job.source.kernel, job.source.arch,
                               settings_.worker.slow.count() / 1000));
  };
  auto answer = worker->run(to_payload(job, alone), settings_.worker, slow);
  if (!answer) {
    lose();
    return tl::make_unexpected(std::move(answer).error());
  }
  give_back(std::move(*worker), answer->resident_bytes);
  return std::move(answer->outcome);
}

Result<Outcome> WorkerPool::run(const Job& job) {
  auto first = attempt(job, false, false);
  if (!first && first.error().kind == Kind::idle) first = attempt(job, true, false);
  if (first) return std::move(*first);
  if (before_job(first.error().kind)) {
    return failure(ErrorCode::nvrtc, "the compile worker {} cannot be used: {}", place(), first.error().text);
  }
  ++lost_;
  // A compile that ran out of memory while others ran is repeated with the machine to itself.
  auto second = attempt(job, true, is_memory(first.error().kind));
  if (!second) {
    ++lost_;
    return tl::make_unexpected(fatal(first.error(), second.error()));
  }
  if (settings_.warn) {
    settings_.warn(fmt::format("{} for {}: the compiler's worker was lost ({}) and the compile done again in another",
                               job.source.kernel, job.source.arch, first.error().text));
  }
  return std::move(*second);
}

Error WorkerPool::fatal(const WorkerFailure& first, const WorkerFailure& second) const {
  Error error{ErrorCode::crash, {}, {}, reason_of(second.kind)};
  switch (second.kind) {
    case Kind::absent:
    case Kind::unable:
    case Kind::idle:
      error.message = fmt::format("the compiler's worker was lost ({}) and no other could be started", first.text);
      error.detail = second.text;
      return error;
    case Kind::timed_out: error.message = fmt::format("the compiler hangs: {}, twice", second.text); break;
    case Kind::out_of_memory:
      error.message = fmt::format("the compiler ran out of memory twice (limit {} MiB)", settings_.memory_bytes >> 20);
      break;
    case Kind::killed: error.message = fmt::format("the compiler was killed twice: {}", second.text); break;
    case Kind::malformed:
      error.message = fmt::format("the compiler's worker sent a malformed answer: {}", second.text);
      break;
    default: error.message = fmt::format("the compiler crashed twice: {}", second.text);
  }
  if (first.text != second.text) error.detail = fmt::format("the first time: {}\n", first.text);
  if (second.kind == Kind::killed) error.detail += "most likely the system's memory ran out\n";
  const std::string& log = second.log.empty() ? first.log : second.log;
  if (!log.empty()) error.detail += fmt::format("its last words:\n{}\n", log);
  if (!error.detail.empty()) error.detail.pop_back();
  return error;
}

}  // namespace tma_jit::compile
