// Work that may never end, such as a system call on a file server that does not answer, waited for no longer than it
// may take.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace tma_jit {

// A thread that takes no signals and is waited for by nobody. False where the system gives none.
bool start_detached(std::function<void()> work);

// Thread-safe. Where something hung, all that comes later is given up at once until the hung work is done, so that a
// program waits once and not at every call.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds limit) : limit_(limit) {}

  // What `work` returns, or nothing where it takes too long. It may go on after that: what it uses it must own. Where
  // no thread can be had, it is done in this one.
  template <class Work> std::optional<std::invoke_result_t<Work>> within(Work work) const {
    if (*hung_ > 0) return std::nullopt;
    auto task = std::make_shared<Task<Work>>(std::move(work));
    if (!start_detached([task, hung = hung_] { task->run(*hung); })) return task->work();
    return task->wait(limit_, *hung_);
  }

  std::chrono::milliseconds limit() const { return limit_; }

 private:
  template <class Work> struct Task {
    explicit Task(Work the_work) : work(std::move(the_work)) {}

    void run(std::atomic<int>& hung) {
      std::optional<std::invoke_result_t<Work>> value;
      std::exception_ptr thrown;
      try {
        value.emplace(work());
      } catch (const std::exception&) {
        thrown = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      outcome = std::move(value);
      exception = thrown;
      done = true;
      if (abandoned) --hung;
      ended.notify_one();
    }

    std::optional<std::invoke_result_t<Work>> wait(std::chrono::milliseconds limit, std::atomic<int>& hung) {
      std::unique_lock lock(mutex);
      if (!ended.wait_for(lock, limit, [this] { return done; })) {
        abandoned = true;
        ++hung;
        return std::nullopt;
      }
      if (exception) std::rethrow_exception(exception);
      return std::move(outcome);
    }

    Work work;
    std::mutex mutex;
    std::condition_variable ended;
    std::optional<std::invoke_result_t<Work>> outcome;
    std::exception_ptr exception;
    bool done = false, abandoned = false;
  };

  const std::chrono::milliseconds limit_;
  const std::shared_ptr<std::atomic<int>> hung_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace tma_jit
