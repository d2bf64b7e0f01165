// An emulated device, which is an instance of the emulator, and the table of devices by ordinal.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/device_info.h>

#include "driver/api.h"
#include "emulator/machine/global_memory.h"
#include "emulator/machine/machine.h"
#include "emulator/settings.h"

namespace tma_jit::emulator::driver {

// Maximum length of a cuGetErrorString text; programs copy it to buffers of 1,024 bytes.
inline constexpr std::size_t kMostErrorText = 999;

// Devices share nothing but the counter of ordinals. A device must outlive the libraries loaded on it.
struct Device {
  explicit Device(DeviceInfo facts);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const int ordinal;  // unique in the process; not reused
  const DeviceInfo info;
  GlobalMemory memory;
  std::mutex launch_mutex;  // serialises launches
  std::mutex settings_mutex;
  Settings settings;
  Counters last;  // of the last launch
  // What may still run where the next launch is programmatic: the last one, in `stream`, and those before it that it
  // began without. Guarded by launch_mutex. Other calls than launches in between end it.
  EarlierLaunches earlier;
  CUstream stream = nullptr;
  std::atomic<bool> separated = false;
};

int count_ordinals();            // including closed devices
Device* device_at(int ordinal);  // null if there is none

// The context stack of a thread. It is trivially destructible, so that destructors of static objects, which run after
// those of the thread's objects, can still use it.
class ContextStack {
 public:
  bool push(Device* device) {  // returns false if it is full
    if (size_ == devices_.size()) return false;
    devices_[size_++] = device;
    return true;
  }
  void pop() { --size_; }  // must not be empty
  Device* top() const { return size_ != 0 ? devices_[size_ - 1] : nullptr; }

 private:
  std::array<Device*, 256> devices_{};
  std::size_t size_ = 0;
};
ContextStack& context_stack();

// Returns the device whose context is current on this thread, or null.
Device* current_device();
// Records that the current device's launches so far are complete before its next one begins. Returns success.
CUresult separate_launches();

// Record the last failure of this thread, and map a fault to a result.
void remember_failure(CUresult result, std::string text);
const char* failure_report(
    CUresult result);  // the full text; null if the last failure of this thread has another result
const char* failure_brief(CUresult result);  // the same, truncated to kMostErrorText for cuGetErrorString
CUresult result_of(FaultKind kind);

// A call that decodes or executes. A child process that is forked during such a call cannot use the emulator, because
// locks and data structures may be in an intermediate state.
struct CallInProgress {
  CallInProgress();
  ~CallInProgress();
  CallInProgress(const CallInProgress&) = delete;
  CallInProgress& operator=(const CallInProgress&) = delete;
};
bool forked_during_call();  // whether this process was forked during such a call

// Calls `f` and converts its exceptions to a result.
template <class F> CUresult guarded(F f) {
  const CallInProgress call_in_progress;
  try {
    return f();
  } catch (const Fault& fault) {
    const CUresult result = result_of(fault.kind);
    remember_failure(result, fault.text());
    return result;
  } catch (const std::bad_alloc&) {
    remember_failure(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory left");
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

}  // namespace tma_jit::emulator::driver
