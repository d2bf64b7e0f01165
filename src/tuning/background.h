// Problems that one thread tunes while the application runs.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <tma_jit/request.h>

#include "base/fork.h"

namespace tma_jit::tuning {

// Thread-safe. The thread starts with the first problem. Every task that was added is settled exactly once, without a
// lock held: in the thread, in `end`, or in `add`. The child of a fork has an empty queue and no thread until it adds a
// task; what its parent had added is not settled there.
class Background {
 public:
  struct Task {
    std::string problem;  // tasks of one problem are tuned once
    Request request;
    std::function<void(bool tuned)> settle;  // tuned: a record of the problem exists
  };
  // What became of a problem; after `gave_up` no other is tuned.
  enum class Outcome : std::uint8_t { tuned, failed, gave_up };
  // Called in the thread, one problem at a time. `stop` makes a call in progress return soon; no call begins after it.
  struct Work {
    std::function<Outcome(const Request& request)> tune;
    std::function<void()> stop;
  };

  explicit Background(Work work) : work_(std::move(work)) {}
  ~Background() { end(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void add(Task task);
  // Waits for the tuning in progress to stop. What comes later is settled at once as not tuned.
  void end();

 private:
  struct Members {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> queue;
    std::map<std::string, bool> done;  // whether a record of the problem exists
    bool ended = false;
    std::thread thread;
  };

  void run(Members& members);
  Outcome tune(Members& members, const Task& task);

  const Work work_;
  PerProcess<Members> members_;
};

}  // namespace tma_jit::tuning
