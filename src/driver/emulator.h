// The emulator as a driver: its shared library found, opened at run time and asked for a device.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include <tma_jit/device_info.h>
#include <tma_jit/emulator.h>

#include "driver/api.h"

namespace tma_jit::driver {

// Gets every warning of an emulated kernel. Must not throw.
using WarningSink = std::function<void(std::string_view text)>;

// The device that stands for a target, of those known by name, with as many processors as the settings say.
[[nodiscard]] Result<DeviceInfo> emulated_device(const EmulatorSettings& settings);

// Opens the emulator's library for one device, which the provider's table has as its only one. The first call opens it,
// a failure is tried again, and later calls give the same table. The instance lives as long as provider and tables do.
// `settings` have a target.
Provider emulator_provider(EmulatorSettings settings, WarningSink warn);

// The files to try, in order: only `wanted` where it is set; else libtma_jit_emulator.so beside this library and beside
// the program, in ../lib and ../lib64 of both, and where the loader looks.
std::vector<std::filesystem::path> emulator_libraries(const std::filesystem::path& wanted);

}  // namespace tma_jit::driver
