#include "tuning/compile_ahead.h"

#include <algorithm>

namespace tma_jit::tuning {

CompileAhead::CompileAhead(Engine& engine, std::vector<Request> requests, std::size_t threads)
    : engine_(engine), requests_(std::move(requests)) {
  const std::size_t most = threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < std::min(requests_.size(), most); ++i) threads_.emplace_back([this] { work(); });
}

CompileAhead::~CompileAhead() {
  stop();
}

void CompileAhead::stop() {
  const std::lock_guard lock(mutex_);
  begun_ = requests_.size();
}

void CompileAhead::work() {
  while (true) {
    std::size_t mine = 0;
    {
      const std::lock_guard lock(mutex_);
      if (begun_ == requests_.size()) return;
      mine = begun_++;
    }
    Done done{mine, engine_.prepare(requests_[mine])};
    const std::lock_guard lock(mutex_);
    done_.push_back(std::move(done));
    came_.notify_one();
  }
}

Result<Launch> CompileAhead::of(std::size_t index) {
  std::unique_lock lock(mutex_);
  auto found = done_.end();
  came_.wait(lock, [&] {
    found = std::ranges::find(done_, index, &Done::first);
    return found != done_.end();
  });
  ++handed_out_;
  Result<Launch> launch = std::move(found->second);
  done_.erase(found);
  return launch;
}

std::optional<CompileAhead::Done> CompileAhead::next(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  if (handed_out_ == requests_.size()) return std::nullopt;
  if (!came_.wait_until(lock, until, [this] { return !done_.empty(); })) return std::nullopt;
  ++handed_out_;
  Done done = std::move(done_.front());
  done_.pop_front();
  return done;
}

}  // namespace tma_jit::tuning
