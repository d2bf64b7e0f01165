#include "tuning/build_ahead.h"

#include "tuning/pinned.h"

namespace tma_jit::tuning {

BuildAhead::BuildAhead(Engine& engine, Request request, std::size_t candidates, std::size_t threads)
    : engine_(engine), request_(std::move(request)), most_(candidates) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

BuildAhead::~BuildAhead() {
  stop();
}

void BuildAhead::stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
}

void BuildAhead::work() {
  std::call_once(listed_, [this] { candidates_ = engine_.candidates(request_, most_).value_or(candidates_); });
  while (true) {
    std::size_t mine = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stop_ || begun_ == candidates_.size()) return;
      mine = begun_++;
    }
    const auto plan = engine_.plan(pinned(request_, candidates_[mine]));
    if (plan) (void)engine_.build(*plan);
  }
}

}  // namespace tma_jit::tuning
