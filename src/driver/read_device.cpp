#include "driver/read_device.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace tma_jit::driver {
namespace {

// Reads attributes of one device and keeps the first failure.
class Attributes {
 public:
  Attributes(const Api& api, CUdevice device) : api_(api), device_(device) {}

  int operator()(CUdevice_attribute attribute) {
    int value = 0;
    auto read = checked(api_, api_.device_get_attribute(&value, attribute, device_),
                        "cuDeviceGetAttribute({}, device {})", static_cast<int>(attribute), device_);
    if (!read && outcome_) outcome_ = std::move(read);
    return value;
  }
  const Result<void>& outcome() const { return outcome_; }

 private:
  const Api& api_;
  CUdevice device_;
  Result<void> outcome_;
};

void read_limits(Attributes& attribute, DeviceInfo& info) {
  info.compute_capability = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                            attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  info.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.smem_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  info.smem_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  info.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  info.threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  info.threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  info.cluster_max = attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0 ? 8 : 1;
  info.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  info.clock_mhz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1e3;
  const double transfers_per_s = 2e3 * attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);  // double data rate; the
                                                                                          // attribute is in kHz
  info.memory_gb_per_s = transfers_per_s * attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8 / 1e9;
}

// Returns whether multicast is fast: on Hopper and data-centre Blackwell. On sm_120 and sm_121 it is executed as many
// unicasts.
bool has_multicast(int compute_capability) {
  return compute_capability >= 90 && compute_capability < 120;
}

// Turns "NVIDIA GeForce RTX 5090" into "nvidiageforcertx5090".
std::string squeezed(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
  }
  return out;
}

std::optional<DeviceInfo> facts_matching(const DeviceInfo& info) {
  const std::string name = squeezed(info.name);
  for (const std::string& known : known_devices()) {
    if (name.find(known) == std::string::npos) continue;
    auto facts = device_named(known);
    if (facts && facts->compute_capability == info.compute_capability) return *std::move(facts);
  }
  return std::nullopt;
}

void complete(DeviceInfo& info) {
  const auto facts = facts_matching(info);
  if (!facts) return;
  const double scale = facts->sm_count > 0 ? static_cast<double>(info.sm_count) / facts->sm_count : 1.0;
  info.bf16_tflops = facts->bf16_tflops * scale;
  info.f32_tflops = facts->f32_tflops * scale;
  if (info.memory_gb_per_s == 0) info.memory_gb_per_s = facts->memory_gb_per_s;
  if (info.clock_mhz == 0) info.clock_mhz = facts->clock_mhz;
}

}  // namespace

std::string target_of(int compute_capability) {
  return fmt::format("sm_{}{}", compute_capability, compute_capability >= 90 ? "a" : "");
}

Result<DeviceInfo> read_device(const Api& api, CUdevice device) {
  DeviceInfo info;
  char name[256] = {};
  TMA_JIT_CHECK(checked(api, api.device_get_name(name, sizeof name - 1, device), "cuDeviceGetName(device {})", device));
  info.name = name;
  Attributes attributes(api, device);
  read_limits(attributes, info);
  TMA_JIT_CHECK(attributes.outcome());
  std::size_t memory = 0;
  TMA_JIT_CHECK(checked(api, api.device_total_mem(&memory, device), "cuDeviceTotalMem(device {})", device));
  info.memory_bytes = static_cast<std::int64_t>(memory);
  info.arch = target_of(info.compute_capability);
  info.multicast = has_multicast(info.compute_capability);
  complete(info);
  return info;
}

}  // namespace tma_jit::driver
