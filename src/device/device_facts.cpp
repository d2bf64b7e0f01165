#include "device/device_facts.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <nlohmann/json.hpp>

#include "base/json_integer.h"
#include "base/text.h"
#include "core/failure.h"
#include "core/fields.h"

namespace tma_jit {
namespace {

std::string_view stem_of(const EmbeddedFile& file) {
  const std::string_view name = file.name;
  return name.substr(0, name.rfind('.'));
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

template <class T> Result<void> take(const nlohmann::json& facts, const char* fact, T& value) {
  const nlohmann::json& given = facts.at(fact).at("value");
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    TMA_JIT_ASSIGN(value, integer_in<T>(given, fact));
  } else {
    given.get_to(value);
  }
  return {};
}

// Throws nlohmann's exceptions if the file lacks a fact; device_named turns them into an Error.
Result<DeviceInfo> parsed(std::string_view name, const nlohmann::json& facts) {
  DeviceInfo info;
  info.name = name;
  TMA_JIT_CHECK(take(facts, "arch", info.arch));
  Result<void> taken;
  each_device_number(
      [&](const char* fact, auto& value) {
        if (taken) taken = take(facts, fact, value);
      },
      info);
  TMA_JIT_CHECK(std::move(taken));
  return info;
}

Result<DeviceInfo> parsed(const EmbeddedFile& file) {
  try {
    return parsed(stem_of(file), nlohmann::json::parse(file.text()));
  } catch (const nlohmann::json::exception& fault) {
    return failure(ErrorCode::parse, "device facts {}: {}", file.name, fault.what());
  }
}

std::span<const EmbeddedFile> files() {
  return {kDeviceFacts, kDeviceFactsCount};
}

// Parses "sm_", two or three digits, and at most one of a and f. Returns the number, or 0 if malformed.
int target_number(std::string_view arch) {
  if (!arch.starts_with("sm_")) return 0;
  arch.remove_prefix(3);
  if (!arch.empty() && (arch.back() == 'a' || arch.back() == 'f')) arch.remove_suffix(1);
  if (arch.size() < 2 || arch.size() > 3) return 0;
  int number = 0;
  for (const char c : arch) {
    if (c < '0' || c > '9') return 0;
    number = 10 * number + (c - '0');
  }
  return number;
}

}  // namespace

std::vector<std::string> known_devices() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : files()) names.emplace_back(stem_of(file));
  std::ranges::sort(names);
  return names;
}

Result<DeviceInfo> device_named(std::string_view name) {
  const std::string wanted = lower(name);
  for (const EmbeddedFile& file : files()) {
    if (stem_of(file) == wanted) return parsed(file);
  }
  const std::vector<std::string> names = known_devices();
  return unknown_name(failure(ErrorCode::not_found, "no device is known as \"{}\" (known: {})", name, joined(names)),
                      wanted, names);
}

Result<std::string> normalise_arch(std::string_view arch) {
  constexpr int kFirstWithExact = 90;    // CUDA 12.0 introduced sm_90a
  constexpr int kFirstWithFamily = 100;  // CUDA 12.9 introduced sm_100f
  const int number = target_number(arch);
  if (number == 0) {
    return failure(ErrorCode::invalid_argument, "\"{}\" is not a target; write sm_ and a number, e.g. sm_90a", arch);
  }
  const int first = arch.back() == 'f' ? kFirstWithFamily : kFirstWithExact;
  const bool suffixed = arch.back() == 'a' || arch.back() == 'f';
  if (suffixed && number < first) {
    return failure(ErrorCode::invalid_argument, "there is no target {}; write sm_{}", arch, number);
  }
  return std::string(arch) + (suffixed || number < kFirstWithExact ? "" : "a");
}

namespace device {

Result<DeviceInfo> device_for_arch(std::string_view arch) {
  struct Row {
    int number;
    const char* device;
  };
  constexpr std::array kRows = {Row{80, "a100"},  Row{86, "a10"},   Row{89, "l4"},       Row{90, "h100"},
                                Row{100, "b200"}, Row{103, "b300"}, Row{120, "rtx5090"}, Row{121, "gb10"}};
  TMA_JIT_ASSIGN(const std::string target, normalise_arch(arch));
  const int number = target_number(target);
  const auto* row = std::ranges::find(kRows, number, &Row::number);
  if (row == kRows.end()) {
    return failure(ErrorCode::unsupported,
                   "no device facts for {}; known targets are sm_80, sm_86, sm_89, sm_90a, sm_100a, "
                   "sm_103a, sm_120a and sm_121a",
                   target);
  }
  TMA_JIT_ASSIGN(DeviceInfo info, device_named(row->device));
  info.arch = target;
  return info;
}

DeviceInfo tightened(DeviceInfo device, const DeviceInfo& limits) {
  const auto tighten = [](auto& value, auto limit) {
    if (limit > 0 && (value == 0 || limit < value)) value = limit;
  };
  tighten(device.sm_count, limits.sm_count);
  tighten(device.smem_per_block, limits.smem_per_block);
  tighten(device.smem_per_sm, limits.smem_per_sm);
  tighten(device.registers_per_sm, limits.registers_per_sm);
  tighten(device.threads_per_block, limits.threads_per_block);
  tighten(device.threads_per_sm, limits.threads_per_sm);
  tighten(device.cluster_max, limits.cluster_max);
  tighten(device.l2_bytes, limits.l2_bytes);
  device.multicast = device.multicast && limits.multicast;
  return device;
}

}  // namespace device
}  // namespace tma_jit
