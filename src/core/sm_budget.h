// The part of a device that a request may use.
#pragma once

#include <algorithm>
#include <utility>

#include <tma_jit/device_info.h>
#include <tma_jit/request.h>

namespace tma_jit {

// Returns the device with no more SMs than the request's budget.
inline DeviceInfo within_budget(DeviceInfo device, const Request& request) {
  if (request.sm_budget > 0) device.sm_count = std::min(device.sm_count, request.sm_budget);
  return device;
}

}  // namespace tma_jit
