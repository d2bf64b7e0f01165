// Device facts that are not public: the representative device of a target, and the tighter limits of two devices.
#pragma once

#include <string_view>

#include <tma_jit/device_info.h>

#include "base/embedded_file.h"

namespace tma_jit {

// The files in src/device/facts, embedded by src/CMakeLists.txt.
extern const EmbeddedFile kDeviceFacts[];
extern const unsigned long kDeviceFactsCount;

}  // namespace tma_jit

namespace tma_jit::device {

// Returns the facts to plan with if only a target is given: sm_80 is an a100, sm_86 an a10, sm_89 an l4, sm_90a an
// h100, sm_100a a b200, sm_103a a b300, sm_120a an rtx5090, sm_121a a gb10. Family targets ("sm_120f") are treated
// alike, with `arch` as given. Fails (unsupported) for other targets.
[[nodiscard]] Result<DeviceInfo> device_for_arch(std::string_view arch);

// Returns `device` with every limit reduced to that of `limits`; a zero in `limits` leaves the device's.
DeviceInfo tightened(DeviceInfo device, const DeviceInfo& limits);

}  // namespace tma_jit::device
