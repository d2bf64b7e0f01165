#include "template/device_fact.h"

namespace tma_jit::manifest {
namespace {

struct Fact {
  std::string_view name;
  std::int64_t (*value)(const DeviceInfo&);
};

constexpr Fact kFacts[] = {
    {"sm_count", [](const DeviceInfo& d) -> std::int64_t { return d.sm_count; }},
    {"smem_per_block", [](const DeviceInfo& d) -> std::int64_t { return d.smem_per_block; }},
    {"smem_per_sm", [](const DeviceInfo& d) -> std::int64_t { return d.smem_per_sm; }},
    {"registers_per_sm", [](const DeviceInfo& d) -> std::int64_t { return d.registers_per_sm; }},
    {"threads_per_block", [](const DeviceInfo& d) -> std::int64_t { return d.threads_per_block; }},
    {"threads_per_sm", [](const DeviceInfo& d) -> std::int64_t { return d.threads_per_sm; }},
    {"cluster_max", [](const DeviceInfo& d) -> std::int64_t { return d.cluster_max; }},
    {"multicast", [](const DeviceInfo& d) -> std::int64_t { return d.multicast ? 1 : 0; }},
    {"l2_bytes", [](const DeviceInfo& d) -> std::int64_t { return d.l2_bytes; }},
    {"compute_capability", [](const DeviceInfo& d) -> std::int64_t { return d.compute_capability; }},
};

}  // namespace

std::optional<std::int64_t> device_fact(const DeviceInfo& device, std::string_view name) {
  for (const Fact& fact : kFacts) {
    if (fact.name == name) return fact.value(device);
  }
  return std::nullopt;
}

std::vector<std::string> device_fact_names() {
  std::vector<std::string> names;
  for (const Fact& fact : kFacts) names.emplace_back(fact.name);
  return names;
}

}  // namespace tma_jit::manifest
