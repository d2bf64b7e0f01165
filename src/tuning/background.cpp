#include "tuning/background.h"

#include <system_error>
#include <utility>

namespace tma_jit::tuning {

void Background::add(Task task) {
  Members& members = members_.get();
  {
    const std::lock_guard lock(members.mutex);
    if (!members.ended && !members.thread.joinable()) {
      try {
        members.thread = std::thread([this, &members] { run(members); });
      } catch (const std::system_error&) {
        members.ended = true;  // no thread can be started: the planned configurations serve
      }
    }
    if (!members.ended) {
      members.queue.push_back(std::move(task));
      members.changed.notify_one();
      return;
    }
  }
  task.settle(false);
}

void Background::end() {
  Members& members = members_.get();
  std::thread thread;
  {
    const std::lock_guard lock(members.mutex);
    members.ended = true;
    thread = std::exchange(members.thread, std::thread());
  }
  if (!thread.joinable()) return;
  work_.stop();
  members.changed.notify_all();
  thread.join();
}

Background::Outcome Background::tune(Members& members, const Task& task) {
  {
    const std::lock_guard lock(members.mutex);
    if (const auto known = members.done.find(task.problem); known != members.done.end()) {
      return known->second ? Outcome::tuned : Outcome::failed;
    }
  }
  const Outcome outcome = work_.tune(task.request);
  const std::lock_guard lock(members.mutex);
  members.done[task.problem] = outcome == Outcome::tuned;
  return outcome;
}

// Settles what is left when it ends.
void Background::run(Members& members) {
  while (true) {
    std::unique_lock lock(members.mutex);
    members.changed.wait(lock, [&] { return members.ended || !members.queue.empty(); });
    if (members.queue.empty()) return;
    Task task = std::move(members.queue.front());
    members.queue.pop_front();
    const bool ended = members.ended;
    lock.unlock();
    const Outcome outcome = ended ? Outcome::failed : tune(members, task);
    task.settle(outcome == Outcome::tuned);
    if (outcome != Outcome::gave_up) continue;
    lock.lock();
    members.ended = true;
  }
}

}  // namespace tma_jit::tuning
