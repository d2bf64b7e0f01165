// The other values of the API as JSON: devices, cubins, the machine, counters, errors.
#include <tma_jit/json.h>

#include <nlohmann/json.hpp>

#include "core/fields.h"

namespace tma_jit {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json object_of(const Error& error) {
  return {{"code", name_of(error.code)},
          {"reason", name_of(error.reason)},
          {"message", error.message},
          {"detail", error.detail},
          {"suggestion", error.suggestion}};
}

Json object_of(const DeviceInfo& device) {
  Json object = Json::object();
  each_device_field([&](const char* name, const auto& value) { object[name] = value; }, device);
  return object;
}

// Converts the driver's number (13000) to "CUDA 13.0".
Json object_of(int driver_version) {
  const std::string major = std::to_string(driver_version / 1000);
  return {{"cuda", major + "." + std::to_string(driver_version % 1000 / 10)}};
}

Json object_of(const Environment::Compiler& compiler) {
  return {{"version", compiler.version},
          {"path", compiler.path},
          {"identity", compiler.identity},
          {"archs", compiler.archs},
          {"missing_features", compiler.missing_features},
          {"place", compiler.place}};
}

// A missing part is written as its error.
template <class Part> Json part_of(const Result<Part>& part) {
  if (part) return object_of(*part);
  return {{"error", object_of(part.error())}};
}

}  // namespace

std::string json_of(const Error& error) {
  return text_of(object_of(error));
}

std::string json_of(const DeviceInfo& device) {
  return text_of(object_of(device));
}

std::string json_of(const Artifact& artifact) {
  const Resources& resources = artifact.resources;
  return text_of({{"form", artifact.form == Artifact::Form::ptx ? "ptx" : "cubin"},
                  {"entry", artifact.entry},
                  {"arch", artifact.arch},
                  {"key", artifact.key.hex()},
                  {"compiled", artifact.compiled},
                  {"compile_ms", artifact.compile_ms},
                  {"bytes", artifact.bytes.size()},
                  {"registers", resources.registers},
                  {"spill_bytes", resources.spill_store_bytes + resources.spill_load_bytes},
                  {"spill_store_bytes", resources.spill_store_bytes},
                  {"spill_load_bytes", resources.spill_load_bytes},
                  {"stack_bytes", resources.stack_bytes},
                  {"static_shared_bytes", resources.static_shared_bytes},
                  {"warnings", resources.warnings}});
}

std::string json_of(const Environment& environment) {
  Json cache = {{"dir", environment.cache_dir.string()}, {"writable", environment.cache_writable.has_value()}};
  if (!environment.cache_writable) cache["error"] = object_of(environment.cache_writable.error());
  if (!environment.remote.empty()) cache["remote"] = environment.remote;
  return text_of({{"driver", part_of(environment.driver_version)},
                  {"device", part_of(environment.device)},
                  {"nvrtc", part_of(environment.compiler)},
                  {"cache", cache}});
}

std::string json_of(const Stats& stats) {
  Json object = Json::object(), cache = Json::object();
  each_counter([&](const char* name, const auto& value) { object[name] = value; }, stats);
  each_cache_counter([&](const char* name, const auto& value) { cache[name] = value; }, stats.cache);
  object["cache"] = cache;
  return text_of(object);
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
