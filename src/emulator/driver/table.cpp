#include "emulator/driver/table.h"

#include "emulator/driver/calls.h"
#include "emulator/driver/device.h"
#include "emulator/driver/encode.h"

namespace tma_jit::emulator {
namespace {

driver::Api make_table() {
  driver::Api api;
  api.version = kDriverVersion;
  api.takes_ptx = true;
  fill_device_calls(api);
  fill_memory_calls(api);
  fill_kernel_calls(api);
  fill_tensor_map_calls(api);
  return api;
}

}  // namespace

Result<const driver::Api*> load() {
  static const driver::Api api = make_table();
  return &api;
}

std::optional<int> ordinal_of(std::string_view arch) {
  const auto& all = devices();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->info.arch == arch) return static_cast<int>(i);
  }
  return std::nullopt;
}

void configure(int ordinal, const Settings& settings) {
  Device* device = device_at(ordinal);
  if (device == nullptr) return;
  const std::lock_guard lock(device->settings_mutex);
  device->settings = settings;
}

Counters last_counters(int ordinal) {
  Device* device = device_at(ordinal);
  if (device == nullptr) return {};
  const std::lock_guard lock(device->launch_mutex);
  return device->last;
}

}  // namespace tma_jit::emulator
