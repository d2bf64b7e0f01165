// The three functions that the shared library exports (src/driver/emulator_interface.h).
#include <new>

#include "driver/emulator_interface.h"
#include "emulator/driver/device.h"
#include "emulator/driver/table.h"

namespace tma_jit::emulator::driver {
namespace {

using tma_jit::driver::EmulatorConfiguration;

DeviceInfo facts_of(const EmulatorConfiguration& configuration) {
  DeviceInfo info;
  info.name = configuration.device.name;
  info.arch = configuration.device.arch;
  tma_jit::driver::copy_numbers(configuration.device, info);
  return info;
}

Settings settings_of(const EmulatorConfiguration& configuration) {
  Settings settings;
  settings.policy = static_cast<Policy>(configuration.policy);
  settings.seed = configuration.seed;
  settings.instruction_limit = configuration.instructions;
  settings.checks = configuration.checks != 0;
  settings.references = configuration.references != 0;
  settings.trace = configuration.trace;
  settings.warn = [warn = configuration.warn, receiver = configuration.receiver](std::string_view text) {
    warn(receiver, text.data(), text.size());
  };
  return settings;
}

}  // namespace
}  // namespace tma_jit::emulator::driver

using tma_jit::emulator::driver::Device;

extern "C" {

[[gnu::visibility("default")]] std::uint64_t tma_jit_emulator_interface() {
  return tma_jit::driver::kEmulatorInterface;
}

[[gnu::visibility("default")]] void* tma_jit_emulator_open(const tma_jit::driver::EmulatorConfiguration* configuration,
                                                           tma_jit::driver::Api* table) {
  if (tma_jit::emulator::driver::forked_during_call()) return nullptr;
  try {
    auto device = std::make_unique<Device>(tma_jit::emulator::driver::facts_of(*configuration));
    device->settings = tma_jit::emulator::driver::settings_of(*configuration);
    *table = tma_jit::emulator::driver::table_of(*device);
    return device.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

[[gnu::visibility("default")]] void tma_jit_emulator_close(void* instance) {
  delete static_cast<Device*>(instance);
}

}  // extern "C"
