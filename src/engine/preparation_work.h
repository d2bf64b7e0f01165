// The implementation of a Preparation: a list of requests, the threads that prepare them, and their results.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <tma_jit/preparation.h>
#include <tma_jit/request.h>

namespace tma_jit {

// Thread-safe. One mutex guards all mutable state; it is not held while a request is prepared or progress is reported.
// The first caller of `end` or `wait` joins the threads. `prepare` is not called afterwards, so that what it refers to
// need only exist until then.
class Preparation::Work {
 public:
  using Prepare = std::function<Result<Launch>(const Request& request)>;

  Work(std::vector<Request> requests, PrepareOptions options, Prepare prepare);
  ~Work() { end(); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // If no thread can be created, every result is that error.
  void start(int threads);
  void cancel();
  // Cancels and joins.
  void end();
  // Waits for every result, then joins.
  void wait();
  bool wait_for(std::chrono::milliseconds limit);
  std::size_t total() const { return requests_.size(); }
  std::size_t done() const;
  [[nodiscard]] Result<Launch> take(std::size_t index);

 private:
  void run();
  void prepare_one(std::size_t index);
  void give_up(const Error& error);
  void tell();
  void join();

  const std::vector<Request> requests_;
  const PrepareOptions options_;
  const Prepare prepare_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;  // index of the first request that has not begun
  std::size_t done_ = 0;
  std::vector<std::optional<Result<Launch>>> results_;
  std::vector<bool> taken_;
  std::mutex progress_mutex_;
  std::size_t told_ = 0;
  std::once_flag joined_;
  std::vector<std::thread> threads_;
};

namespace engine {

// The preparations of one engine, which must end before it does. Thread-safe.
class Preparations {
 public:
  void add(const std::shared_ptr<Preparation::Work>& work);
  void end();

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<Preparation::Work>> all_;
};

}  // namespace engine

}  // namespace tma_jit
