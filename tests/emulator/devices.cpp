#include "emulator/devices.h"

#include <map>
#include <mutex>

#include "driver/emulator.h"
#include "emulator/driver/table.h"
#include "support/engines.h"
#include "support/shared_cache.h"
#include "support/temporary_folder.h"

namespace tma_jit::testing {

// Never destroyed, because engines and buffers of static objects may be destroyed later.
emulator::driver::Device& device_of(std::string_view arch) {
  static auto* const mutex = new std::mutex;
  static auto* const devices = new std::map<std::string, std::unique_ptr<emulator::driver::Device>, std::less<>>;
  const std::lock_guard lock(*mutex);
  auto found = devices->find(arch);
  if (found == devices->end()) {
    DeviceInfo facts = driver::emulated_device({.arch = std::string(arch)}).value();
    found = devices->emplace(std::string(arch), std::make_unique<emulator::driver::Device>(std::move(facts))).first;
  }
  return *found->second;
}

driver::Api table_of(std::string_view arch) {
  return emulator::driver::table_of(device_of(arch));
}

driver::Provider driver_of(std::string_view arch) {
  auto table = std::make_shared<const driver::Api>(table_of(arch));
  return [table]() -> Result<driver::SharedApi> { return table; };
}

Options sharing_options() {
  Options options;
  if (has_shared_cache()) return options;
  static const TemporaryFolder folder;
  options.cache_dir = folder.path();
  return options;
}

Engine emulated_engine(std::string_view arch) {
  return engine_with(sharing_options(), driver_of(arch));
}

}  // namespace tma_jit::testing
