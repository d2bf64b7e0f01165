#include "emulator/driver/device.h"

#include <utility>

namespace tma_jit::emulator {
namespace {

std::vector<std::unique_ptr<Device>> make_devices() {
  std::vector<std::unique_ptr<Device>> made;
  for (const std::string& name : known_devices()) {
    auto facts = device_named(name);
    if (!facts) continue;
    made.push_back(std::make_unique<Device>(*std::move(facts)));
  }
  return made;
}

std::pair<CUresult, std::string>& last_failure() {
  thread_local std::pair<CUresult, std::string> failure{CUDA_SUCCESS, {}};
  return failure;
}

}  // namespace

// Never destroyed: launches and frees may come from other objects' destructors.
const std::vector<std::unique_ptr<Device>>& devices() {
  static const auto* const made = new std::vector<std::unique_ptr<Device>>(make_devices());
  return *made;
}

Device* device_at(int ordinal) {
  const auto& all = devices();
  return ordinal >= 0 && static_cast<std::size_t>(ordinal) < all.size() ? all[static_cast<std::size_t>(ordinal)].get()
                                                                        : nullptr;
}

std::vector<Device*>& context_stack() {
  thread_local std::vector<Device*> stack;
  return stack;
}

Device* current_device() {
  return context_stack().empty() ? nullptr : context_stack().back();
}

void remember_failure(CUresult result, std::string text) {
  last_failure() = {result, std::move(text)};
}

const char* failure_text(CUresult result) {
  const auto& failure = last_failure();
  return failure.first == result && !failure.second.empty() ? failure.second.c_str() : nullptr;
}

CUresult result_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::syntax: return CUDA_ERROR_INVALID_PTX;
    case FaultKind::unsupported: return CUDA_ERROR_NOT_SUPPORTED;
    case FaultKind::launch: return CUDA_ERROR_INVALID_VALUE;
    case FaultKind::bounds: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case FaultKind::alignment: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FaultKind::deadlock:
    case FaultKind::livelock:
    case FaultKind::limit: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case FaultKind::trap: return CUDA_ERROR_ASSERT;
    default: return CUDA_ERROR_LAUNCH_FAILED;
  }
}

}  // namespace tma_jit::emulator
