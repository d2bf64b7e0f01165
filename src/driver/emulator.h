// The emulator as a driver: finds its shared library, opens it at run time and creates a device.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include <tma_jit/device_info.h>
#include <tma_jit/emulator.h>

#include "driver/api.h"

namespace tma_jit::driver {

// Receives every warning of an emulated kernel. Must not throw.
using WarningSink = std::function<void(std::string_view text)>;

// Returns the facts of the known device that represents the target, with the number of processors from the settings.
[[nodiscard]] Result<DeviceInfo> emulated_device(const EmulatorSettings& settings);

// Returns a provider of a table with one emulated device. Its first call opens the emulator's library, later calls
// return the same table, and a failure is tried again. The device exists as long as the provider or a table.
// `settings.arch` must be set.
Provider emulator_provider(EmulatorSettings settings, WarningSink warn);

// Returns the files to try, in order: only `wanted` if it is set; else libtma_jit_emulator.so beside this library and
// beside the program, in ../lib and ../lib64 of both, and where the loader searches.
std::vector<std::filesystem::path> emulator_libraries(const std::filesystem::path& wanted);

}  // namespace tma_jit::driver
