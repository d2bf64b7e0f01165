// The emulated devices of a process: one for each device known by name, in that order, so that an ordinal names one.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/device_info.h>

#include "driver/api.h"
#include "emulator/exec/global_memory.h"
#include "emulator/exec/machine.h"
#include "emulator/settings.h"

namespace tma_jit::emulator {

struct Device {
  explicit Device(DeviceInfo facts) : info(std::move(facts)) {}
  const DeviceInfo info;
  GlobalMemory memory;
  std::mutex launch_mutex;  // one launch at a time
  std::mutex settings_mutex;
  Settings settings;
  Counters last;  // of the last launch
};

const std::vector<std::unique_ptr<Device>>& devices();
Device* device_at(int ordinal);  // null where there is none

// The device whose context is current on this thread, or null.
Device* current_device();
std::vector<Device*>& context_stack();

// What the last failure of this thread was, for cuGetErrorString; and the result that stands for a fault.
void remember_failure(CUresult result, std::string text);
const char* failure_text(CUresult result);  // null where this thread remembers none for it
CUresult result_of(FaultKind kind);

// Runs `f` and turns what it throws into a result.
template <class F> CUresult guarded(F f) {
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
