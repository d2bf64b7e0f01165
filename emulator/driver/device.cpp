#include "emulator/driver/device.h"

#include <pthread.h>

#include <atomic>
#include <map>
#include <string_view>
#include <utility>

namespace tma_jit::emulator::driver {
namespace {

class Registry {
 public:
  int register_external(Device& device) {
    const std::lock_guard lock(mutex_);
    devices_.emplace(next_, &device);
    return next_++;
  }
  void unregister_external(int ordinal) {
    const std::lock_guard lock(mutex_);
    devices_.erase(ordinal);
  }
  Device* find(int ordinal) {
    const std::lock_guard lock(mutex_);
    const auto found = devices_.find(ordinal);
    return found != devices_.end() ? found->second : nullptr;
  }
  int ordinals() {
    const std::lock_guard lock(mutex_);
    return next_;
  }
  // Held across a fork, so that no other thread holds the lock in the child.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::map<int, Device*> devices_;
  int next_ = 0;
};

// Never destroyed, because destructors of static objects may close devices.
Registry& registry() {
  static auto* const made = new Registry;
  return *made;
}

std::atomic<int> calls_under_way = 0, lost_calls = 0;

[[maybe_unused]] const int kRegistered = ::pthread_atfork([] { registry().lock(); }, [] { registry().unlock(); },
                                                          [] {
                                                            registry().unlock();
                                                            lost_calls += calls_under_way.exchange(0);
                                                          });

struct Failure {
  CUresult result = CUDA_SUCCESS;
  std::string report, brief;
};

// Returns null after the objects of this thread are destroyed; destructors of static objects run later.
Failure* last_failure() {
  thread_local bool gone = false;
  struct FailureSlot : Failure {
    ~FailureSlot() { gone = true; }
  };
  if (gone) return nullptr;
  thread_local FailureSlot failure;
  return &failure;
}

const Failure* failure_of(CUresult result) {
  const Failure* const failure = last_failure();
  return failure != nullptr && failure->result == result && !failure->report.empty() ? failure : nullptr;
}

// Truncates the report at the end of a line.
std::string cut(const std::string& report) {
  constexpr std::string_view kRest = "\n(the report goes on)";
  if (report.size() <= kMostErrorText) return report;
  const std::size_t most = kMostErrorText - kRest.size();
  const std::size_t line = report.rfind('\n', most);
  return report.substr(0, line != std::string::npos && line != 0 ? line : most).append(kRest);
}

}  // namespace

CallInProgress::CallInProgress() {
  ++calls_under_way;
}
CallInProgress::~CallInProgress() {
  --calls_under_way;
}
bool forked_during_call() {
  return lost_calls > 0;
}

Device::Device(DeviceInfo facts) : ordinal(registry().register_external(*this)), info(std::move(facts)) {}

Device::~Device() {
  registry().unregister_external(ordinal);
}

int count_ordinals() {
  return registry().ordinals();
}

Device* device_at(int ordinal) {
  return registry().find(ordinal);
}

ContextStack& context_stack() {
  thread_local ContextStack stack;
  return stack;
}

Device* current_device() {
  return context_stack().top();
}

CUresult separate_launches() {
  Device* const device = current_device();
  if (device != nullptr) device->separated = true;
  return CUDA_SUCCESS;
}

void remember_failure(CUresult result, std::string text) {
  Failure* const failure = last_failure();
  if (failure == nullptr) return;
  failure->result = result;
  failure->brief = cut(text);
  failure->report = std::move(text);
}

const char* failure_report(CUresult result) {
  const Failure* const failure = failure_of(result);
  return failure != nullptr ? failure->report.c_str() : nullptr;
}

const char* failure_brief(CUresult result) {
  const Failure* const failure = failure_of(result);
  return failure != nullptr ? failure->brief.c_str() : nullptr;
}

CUresult result_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::syntax: return CUDA_ERROR_INVALID_PTX;
    case FaultKind::unsupported: return CUDA_ERROR_NOT_SUPPORTED;
    case FaultKind::launch: return CUDA_ERROR_INVALID_VALUE;
    case FaultKind::too_large: return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    case FaultKind::bounds: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case FaultKind::alignment: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FaultKind::deadlock:
    case FaultKind::livelock:
    case FaultKind::limit: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case FaultKind::trap: return CUDA_ERROR_ASSERT;
    default: return CUDA_ERROR_LAUNCH_FAILED;
  }
}

}  // namespace tma_jit::emulator::driver
