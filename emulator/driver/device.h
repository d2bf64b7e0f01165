// An emulated device, which is what an instance of the emulator is, and the table from ordinals to devices.
#pragma once

#include <array>
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

namespace tma_jit::emulator {

// Bytes of a text of cuGetErrorString: programs copy it into buffers of 1,024.
inline constexpr std::size_t kMostErrorText = 999;

// Devices share nothing but the count of ordinals. Outlives every library loaded on it.
struct Device {
  explicit Device(DeviceInfo facts);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const int ordinal;  // no other device of the process has it, now or later
  const DeviceInfo info;
  GlobalMemory memory;
  std::mutex launch_mutex;  // one launch at a time
  std::mutex settings_mutex;
  Settings settings;
  Counters last;  // of the last launch
};

int count_ordinals();            // those of devices that are gone included
Device* device_at(int ordinal);  // null where there is none

// The contexts of a thread, the current one last. It has no destructor, so that the destructors of static objects,
// which run after those of a thread's own objects, still find it.
class ContextStack {
 public:
  bool push(Device* device) {  // false where it is full
    if (size_ == devices_.size()) return false;
    devices_[size_++] = device;
    return true;
  }
  void pop() { --size_; }  // there is one
  Device* top() const { return size_ != 0 ? devices_[size_ - 1] : nullptr; }

 private:
  std::array<Device*, 256> devices_{};
  std::size_t size_ = 0;
};
ContextStack& context_stack();

// The device whose context is current on this thread, or null.
Device* current_device();

// What the last failure of this thread was, until the thread ends; and the result that stands for a fault.
void remember_failure(CUresult result, std::string text);
const char* failure_report(CUresult result);  // the whole text; null where this thread remembers none for the result
const char* failure_brief(CUresult result);   // the same cut off for cuGetErrorString: see kMostErrorText
CUresult result_of(FaultKind kind);

// A call that decodes or executes. A child of a fork that comes meanwhile cannot use the emulator: what the call had
// locked or was about to make stays so.
struct UnderWay {
  UnderWay();
  ~UnderWay();
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
};
bool forked_under_way();  // in this process's parent, when it was forked

// Runs `f` and turns what it throws into a result.
template <class F> CUresult guarded(F f) {
  const UnderWay under_way;
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

}  // namespace tma_jit::emulator
