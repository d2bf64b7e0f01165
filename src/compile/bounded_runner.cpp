#include "compile/bounded_runner.h"

#include <semaphore>
#include <utility>

#include "compile/slots.h"

namespace tma_jit::compile {
namespace {

class Bounded final : public Runner {
 public:
  Bounded(int runs, std::shared_ptr<Runner> runner) : runner_(std::move(runner)), free_(runs) {}

  Result<Outcome> run(const Job& job) override {
    free_.acquire();
    Result<Outcome> outcome = runner_->run(job);
    free_.release();
    return outcome;
  }
  const NvrtcFacts& facts() const override { return runner_->facts(); }
  std::string place() const override { return runner_->place(); }

 private:
  const std::shared_ptr<Runner> runner_;
  std::counting_semaphore<> free_;
};

}  // namespace

std::shared_ptr<Runner> bounded(int runs, std::shared_ptr<Runner> runner) {
  return std::make_shared<Bounded>(runs > 0 ? runs : default_slots(), std::move(runner));
}

}  // namespace tma_jit::compile
