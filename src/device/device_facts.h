// Device facts beyond the public ones: the device that stands for a target, and the tighter of two devices.
#pragma once

#include <string_view>

#include <tma_jit/device_info.h>

#include "base/embedded_file.h"

namespace tma_jit {

// The files of src/device/facts, embedded by src/CMakeLists.txt.
extern const EmbeddedFile kDeviceFacts[];
extern const unsigned long kDeviceFactsCount;

}  // namespace tma_jit

namespace tma_jit::device {

// The facts to plan with when only a target is named: sm_80 is an a100, sm_86 an a10, sm_89 an l4, sm_90a an h100,
// sm_100a a b200, sm_103a a b300, sm_120a an rtx5090, sm_121a a gb10; family targets ("sm_120f") likewise, with `arch`
// as given. Others are `unsupported`.
[[nodiscard]] Result<DeviceInfo> device_for_arch(std::string_view arch);

// `device` with every limit at most that of `limits`; a zero in `limits` leaves the device's.
DeviceInfo tightened(DeviceInfo device, const DeviceInfo& limits);

}  // namespace tma_jit::device
