#include "tuning/compile_ahead.h"

#include <algorithm>

namespace tma_jit::tuning {

CompileAhead::CompileAhead(Engine& engine, std::vector<Request> requests, std::vector<Request> helpers,
                           std::size_t threads)
    : engine_(engine), requests_(std::move(requests)), helpers_(std::move(helpers)) {
  const std::size_t most = threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  const std::size_t all = requests_.size() + helpers_.size();
  for (std::size_t i = 0; i < std::min(all, most); ++i) threads_.emplace_back([this] { work(); });
}

CompileAhead::~CompileAhead() {
  stop();
}

void CompileAhead::stop() {
  const std::lock_guard lock(mutex_);
  begun_ = requests_.size() + helpers_.size();
}

std::optional<std::size_t> CompileAhead::begin() {
  const std::lock_guard lock(mutex_);
  return begun_ < requests_.size() + helpers_.size() ? std::optional(begun_++) : std::nullopt;
}

void CompileAhead::work() {
  while (const auto mine = begin()) {
    if (*mine > 0 && *mine <= helpers_.size()) {
      // By a plan, which no policy tunes. Whoever needs the kernel meets its error.
      if (const auto plan = engine_.plan(helpers_[*mine - 1])) (void)engine_.prepare(*plan);
      continue;
    }
    const std::size_t index = *mine == 0 ? 0 : *mine - helpers_.size();
    Done done{index, engine_.prepare(requests_[index])};
    done.when = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    done_.push_back(std::move(done));
    came_.notify_one();
  }
}

CompileAhead::Done CompileAhead::of(std::size_t index) {
  std::unique_lock lock(mutex_);
  auto found = done_.end();
  came_.wait(lock, [&] {
    found = std::ranges::find(done_, index, &Done::index);
    return found != done_.end();
  });
  ++handed_out_;
  Done done = std::move(*found);
  done_.erase(found);
  return done;
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
