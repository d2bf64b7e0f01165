#include "compile/at_most.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "compile/slots.h"

namespace tma_jit::compile {
namespace {

class Bounded final : public Runner {
 public:
  Bounded(int runs, std::shared_ptr<Runner> runner) : runner_(std::move(runner)), free_(runs) {}

  Result<Outcome> run(const Job& job) override {
    {
      std::unique_lock lock(mutex_);
      freed_.wait(lock, [this] { return free_ > 0; });
      --free_;
    }
    Result<Outcome> outcome = runner_->run(job);
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    freed_.notify_one();
    return outcome;
  }
  const NvrtcFacts& facts() const override { return runner_->facts(); }
  std::string place() const override { return runner_->place(); }

 private:
  const std::shared_ptr<Runner> runner_;
  std::mutex mutex_;
  std::condition_variable freed_;
  int free_;
};

}  // namespace

std::shared_ptr<Runner> at_most(int runs, std::shared_ptr<Runner> runner) {
  return std::make_shared<Bounded>(runs > 0 ? runs : default_slots(), std::move(runner));
}

}  // namespace tma_jit::compile
