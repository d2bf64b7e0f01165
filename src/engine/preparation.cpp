#include <tma_jit/preparation.h>

#include "compile/slots.h"
#include "engine/preparation_work.h"
#include "engine/state.h"

namespace tma_jit {

Preparation::Preparation(std::shared_ptr<Work> work) : work_(std::move(work)) {}
Preparation::Preparation(Preparation&&) noexcept = default;

Preparation& Preparation::operator=(Preparation&& other) noexcept {
  if (work_ != nullptr && this != &other) work_->end();
  work_ = std::move(other.work_);
  return *this;
}

Preparation::~Preparation() {
  if (work_ != nullptr) work_->end();
}

std::size_t Preparation::total() const {
  return work_->total();
}
std::size_t Preparation::done() const {
  return work_->done();
}
void Preparation::cancel() {
  work_->cancel();
}
void Preparation::wait() {
  work_->wait();
}
bool Preparation::wait_for(std::chrono::milliseconds limit) {
  return work_->wait_for(limit);
}
Result<Launch> Preparation::take(std::size_t index) {
  return work_->take(index);
}

Preparation Engine::prepare_async(std::vector<Request> requests, PrepareOptions options) {
  const int threads = options.threads > 0 ? options.threads : compile::default_slots();
  // The engine ends its preparations before its state is destroyed.
  auto work = std::make_shared<Preparation::Work>(
      std::move(requests), std::move(options),
      [state = state_.get()](const Request& request) { return state->prepare_launch(request); });
  state_->preparations.add(work);
  work->start(threads);
  return Preparation(std::move(work));
}

}  // namespace tma_jit
