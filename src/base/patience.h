// Runs work that may never end, such as a system call on an unresponsive file server, with a limit on the waiting time.
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

// Starts a detached thread that receives no signals. Returns false if no thread can be created.
bool start_detached(std::function<void()> work);

// Thread-safe. After one piece of work has exceeded its limit, later ones are given up at once until it is done, so
// that a program waits once and not at every call.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds limit) : limit_(limit) {}

  // Returns the result of `work`, or nullopt if it takes too long. The work may then still be running, so it must own
  // everything it uses. If no thread can be created, the work runs in this thread.
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
