// The device numbers that expressions may use as `device.NAME`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/device_info.h>

namespace tma_jit::device {

// Returns nullopt if there is no such name.
std::optional<std::int64_t> device_fact(const DeviceInfo& device, std::string_view name);
bool is_device_fact(std::string_view name);
std::vector<std::string> device_fact_names();

}  // namespace tma_jit::device
