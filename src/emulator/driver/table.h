// The emulator as a driver: a table of functions like libcuda's. Work is done when a call returns; a launch that the
// emulator stops is an error whose cuGetErrorString is the report.
#pragma once

#include <optional>
#include <string_view>

#include "driver/api.h"
#include "emulator/exec/machine.h"
#include "emulator/settings.h"

namespace tma_jit::emulator {

// Never fails. Ordinals count the devices known by name, in the order of known_devices().
Result<const driver::Api*> load();

// The ordinal of the device that stands for a target, e.g. "sm_90a"; nothing where none does.
std::optional<int> ordinal_of(std::string_view arch);

// How a device's next launches run.
void configure(int ordinal, const Settings& settings);
Counters last_counters(int ordinal);

}  // namespace tma_jit::emulator
