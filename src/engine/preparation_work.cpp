#include "engine/preparation_work.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "core/caller_function.h"
#include "core/failure.h"

namespace tma_jit {

Preparation::Work::Work(std::vector<Request> requests, PrepareOptions options, Prepare prepare)
    : requests_(std::move(requests)),
      options_(std::move(options)),
      prepare_(std::move(prepare)),
      results_(requests_.size()),
      taken_(requests_.size()) {}

void Preparation::Work::start(int threads) {
  const std::size_t wanted = std::min(requests_.size(), static_cast<std::size_t>(std::max(threads, 1)));
  threads_.reserve(wanted);
  try {
    while (threads_.size() < wanted) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error& fault) {
    if (threads_.empty()) give_up({ErrorCode::io, fmt::format("cannot start a thread: {}", fault.what())});
  }
}

void Preparation::Work::run() {
  while (true) {
    std::size_t index = 0;
    {
      const std::lock_guard lock(mutex_);
      if (next_ == requests_.size()) return;
      index = next_++;
    }
    prepare_one(index);
    tell();
  }
}

// An exception means that the host is out of memory, or a defect of the library.
void Preparation::Work::prepare_one(std::size_t index) {
  std::optional<Result<Launch>> made;
  try {
    made.emplace(prepare_(requests_[index]));
  } catch (const std::exception& fault) {
    made.emplace(failure(ErrorCode::io, "{} was not prepared: {}", requests_[index].kernel, fault.what()));
  }
  {
    const std::lock_guard lock(mutex_);
    results_[index] = std::move(made);
    ++done_;
  }
  changed_.notify_all();
}

void Preparation::Work::tell() {
  if (!options_.progress) return;
  const std::lock_guard lock(progress_mutex_);
  ++told_;
  call_caller([&] { options_.progress(told_, requests_.size()); });
}

void Preparation::Work::give_up(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    for (; next_ < requests_.size(); ++next_, ++done_) results_[next_].emplace(tl::make_unexpected(error));
  }
  changed_.notify_all();
}

void Preparation::Work::cancel() {
  give_up({ErrorCode::cancelled, "the preparation was cancelled before this request had begun"});
}

void Preparation::Work::join() {
  std::call_once(joined_, [this] {
    for (std::thread& thread : threads_) thread.join();
  });
}

void Preparation::Work::end() {
  cancel();
  join();
}

void Preparation::Work::wait() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_ == requests_.size(); });
  }
  join();
}

bool Preparation::Work::wait_for(std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const auto now = Clock::now();
  const auto longest = std::chrono::floor<std::chrono::milliseconds>(Clock::time_point::max() - now);
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, now + std::min(limit, longest), [this] { return done_ == requests_.size(); });
}

std::size_t Preparation::Work::done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

Result<Launch> Preparation::Work::take(std::size_t index) {
  if (index >= requests_.size()) {
    return failure(ErrorCode::not_found, "there is no request {}: {} were given", index, requests_.size());
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return taken_[index] || results_[index].has_value(); });
  if (taken_[index]) {
    return failure(ErrorCode::not_found, "the result of request {}, {}, was taken before", index,
                   requests_[index].kernel);
  }
  taken_[index] = true;
  return std::move(*std::exchange(results_[index], std::nullopt));
}

namespace engine {

void Preparations::add(const std::shared_ptr<Preparation::Work>& work) {
  const std::lock_guard lock(mutex_);
  std::erase_if(all_, [](const std::weak_ptr<Preparation::Work>& one) { return one.expired(); });
  all_.push_back(work);
}

// Cancels all before it waits for the first.
void Preparations::end() {
  std::vector<std::shared_ptr<Preparation::Work>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const std::weak_ptr<Preparation::Work>& one : all_) {
      if (auto work = one.lock()) all.push_back(std::move(work));
    }
    all_.clear();
  }
  for (const auto& work : all) work->cancel();
  for (const auto& work : all) work->end();
}

}  // namespace engine

}  // namespace tma_jit
