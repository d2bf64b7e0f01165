// What is around a plan, as JSON: devices, kernels, cubins, the machine, counters, errors.
#include <tma_jit/json.h>

#include <nlohmann/json.hpp>

namespace tma_jit {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json object_of(const Error& error) {
  return {{"code", name_of(error.code)}, {"message", error.message}, {"detail", error.detail}};
}

Json object_of(const DeviceInfo& device) {
  return {{"name", device.name},
          {"arch", device.arch},
          {"compute_capability", device.compute_capability},
          {"sm_count", device.sm_count},
          {"smem_per_block", device.smem_per_block},
          {"smem_per_sm", device.smem_per_sm},
          {"registers_per_sm", device.registers_per_sm},
          {"threads_per_block", device.threads_per_block},
          {"threads_per_sm", device.threads_per_sm},
          {"cluster_max", device.cluster_max},
          {"multicast", device.multicast},
          {"l2_bytes", device.l2_bytes},
          {"memory_bytes", device.memory_bytes},
          {"clock_mhz", device.clock_mhz},
          {"memory_gb_per_s", device.memory_gb_per_s},
          {"bf16_tflops", device.bf16_tflops},
          {"f32_tflops", device.f32_tflops}};
}

// "CUDA 13.0" as 13000 is how the driver counts.
Json object_of(int driver_version) {
  const std::string major = std::to_string(driver_version / 1000);
  return {{"cuda", major + "." + std::to_string(driver_version % 1000 / 10)}};
}

Json object_of(const Environment::Compiler& compiler) {
  return {{"version", compiler.version}, {"path", compiler.path},   {"identity", compiler.identity},
          {"archs", compiler.archs},     {"lacks", compiler.lacks}, {"place", compiler.place}};
}

// An absent part is its error.
template <class Part> Json part_of(const Result<Part>& part) {
  if (part) return object_of(*part);
  return {{"error", object_of(part.error())}};
}

Json list_of(const std::vector<KernelInfo::Item>& items) {
  Json list = Json::array();
  for (const KernelInfo::Item& item : items) {
    list.push_back({{"name", item.name}, {"declaration", item.declaration}, {"doc", item.doc}});
  }
  return list;
}

}  // namespace

std::string json_of(const Error& error) {
  return text_of(object_of(error));
}

std::string json_of(const DeviceInfo& device) {
  return text_of(object_of(device));
}

std::string json_of(const Cubin& cubin) {
  const Resources& resources = cubin.resources;
  return text_of({{"entry", cubin.entry},
                  {"arch", cubin.arch},
                  {"key", cubin.key.hex()},
                  {"compiled", cubin.compiled},
                  {"compile_ms", cubin.compile_ms},
                  {"cubin_bytes", cubin.bytes.size()},
                  {"registers", resources.registers},
                  {"spill_bytes", resources.spill_store_bytes + resources.spill_load_bytes},
                  {"spill_store_bytes", resources.spill_store_bytes},
                  {"spill_load_bytes", resources.spill_load_bytes},
                  {"stack_bytes", resources.stack_bytes},
                  {"static_shared_bytes", resources.static_shared_bytes},
                  {"warnings", resources.warnings}});
}

std::string json_of(const KernelInfo& kernel) {
  return text_of({{"kernel", kernel.kernel},
                  {"file", kernel.file},
                  {"doc", kernel.doc},
                  {"archs", kernel.archs},
                  {"embedded", kernel.embedded},
                  {"probe", kernel.probe},
                  {"reference", kernel.has_reference},
                  {"types", list_of(kernel.types)},
                  {"dims", list_of(kernel.dims)},
                  {"params", list_of(kernel.params)},
                  {"lets", list_of(kernel.lets)},
                  {"rules", list_of(kernel.rules)},
                  {"tensors", list_of(kernel.tensors)},
                  {"scalars", list_of(kernel.scalars)},
                  {"workspaces", list_of(kernel.workspaces)},
                  {"hooks", list_of(kernel.hooks)},
                  {"presets", list_of(kernel.presets)}});
}

std::string json_of(const Environment& environment) {
  Json cache = {{"dir", environment.cache_dir.string()}, {"writable", environment.cache_writable.has_value()}};
  if (!environment.cache_writable) cache["error"] = object_of(environment.cache_writable.error());
  return text_of({{"driver", part_of(environment.driver_version)},
                  {"device", part_of(environment.device)},
                  {"nvrtc", part_of(environment.compiler)},
                  {"cache", cache}});
}

std::string json_of(const Stats& stats) {
  return text_of({{"plans", stats.plans},
                  {"compiles", stats.compiles},
                  {"compile_failures", stats.compile_failures},
                  {"memory_hits", stats.memory_hits},
                  {"disk_hits", stats.disk_hits},
                  {"disk_misses", stats.disk_misses},
                  {"disk_faults", stats.disk_faults},
                  {"disk_writes", stats.disk_writes},
                  {"disk_write_failures", stats.disk_write_failures},
                  {"loads", stats.loads},
                  {"workers_started", stats.workers_started},
                  {"workers_lost", stats.workers_lost},
                  {"crashes_avoided", stats.crashes_avoided},
                  {"sealed_misses", stats.sealed_misses},
                  {"misses_recorded", stats.misses_recorded},
                  {"compile_ms", stats.compile_ms},
                  {"cache",
                   {{"unreadable", stats.cache.unreadable},
                    {"untrusted", stats.cache.untrusted},
                    {"other_format", stats.cache.other_format},
                    {"corrupt", stats.cache.corrupt},
                    {"wrong_key", stats.cache.wrong_key},
                    {"healed", stats.cache.healed},
                    {"node_hits", stats.cache.node_hits},
                    {"read_only_hits", stats.cache.read_only_hits},
                    {"waits", stats.cache.waits},
                    {"wait_timeouts", stats.cache.wait_timeouts},
                    {"lockless", stats.cache.lockless},
                    {"evicted", stats.cache.evicted}}}});
}

std::string json_of(const CacheExplanation& explanation) {
  Json differences = Json::array();
  for (const CacheDifference& difference : explanation.differences) {
    differences.push_back({{"field", difference.field}, {"here", difference.here}, {"there", difference.there}});
  }
  return text_of({{"key", explanation.key.hex()},
                  {"found", explanation.found},
                  {"where", explanation.where},
                  {"fault", explanation.fault},
                  {"nearest", explanation.nearest},
                  {"differences", differences}});
}

std::string json_of(const CacheEntryInfo& entry) {
  return text_of({{"key", entry.key},
                  {"kernel", entry.kernel},
                  {"arch", entry.arch},
                  {"bytes", entry.bytes},
                  {"fault", entry.fault}});
}

}  // namespace tma_jit
