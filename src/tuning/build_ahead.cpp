#include "tuning/build_ahead.h"

#include "tuning/pinned.h"

namespace tma_jit::tuning {

BuildAhead::BuildAhead(Engine& engine, Request request, std::size_t candidates, std::size_t threads,
                       std::function<void()> ready)
    : engine_(engine), request_(std::move(request)), most_(candidates), ready_(std::move(ready)) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

BuildAhead::~BuildAhead() {
  stop();
}

void BuildAhead::stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
}

const Result<std::vector<Candidate>>& BuildAhead::candidates() {
  std::call_once(listed_, [this] { candidates_ = engine_.candidates(request_, most_); });
  return *candidates_;
}

bool BuildAhead::is_first() {
  bool first = false;
  std::call_once(first_, [&] { first = true; });
  return first;
}

// The first thread makes the list.
void BuildAhead::work() {
  if (!is_first() && ready_) ready_();
  const Result<std::vector<Candidate>>& listed = candidates();
  while (listed) {
    std::size_t mine = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stop_ || begun_ == listed->size()) return;
      mine = begun_++;
    }
    const auto plan = engine_.plan(pinned(request_, (*listed)[mine]));
    if (plan) (void)engine_.build(*plan);
  }
}

}  // namespace tma_jit::tuning
