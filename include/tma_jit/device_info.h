// What the planner knows about a GPU: plain numbers, read from a device or from a data file by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit {

// Sizes are in bytes, clocks in MHz, bandwidth in GB/s (10^9), dense rates in TFLOP/s. Zero means unknown.
struct DeviceInfo {
  std::string name{};          // "h100", or the driver's name of the device
  std::string arch{};          // the exact target: "sm_90a", "sm_100a", "sm_121a"
  int compute_capability = 0;  // 90, 100, 103, 120, 121
  int sm_count = 0;
  std::int64_t smem_per_block = 0;  // the opt-in maximum of one block
  std::int64_t smem_per_sm = 0;
  std::int64_t registers_per_sm = 0;
  int threads_per_block = 0;
  int threads_per_sm = 0;
  int cluster_max = 0;     // largest portable cluster, in blocks
  bool multicast = false;  // whether TMA multicast runs at full speed
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  double clock_mhz = 0;
  double memory_gb_per_s = 0;
  double bf16_tflops = 0;
  double f32_tflops = 0;
};

// Returns the names of the known devices: "h100", "h200", "b200", "b300", "gb10", "rtx5090", and, without TMA, "a100",
// "a10", "l4" and "rtx4090".
TMA_JIT_API std::vector<std::string> known_devices();
[[nodiscard]] TMA_JIT_API Result<DeviceInfo> device_named(std::string_view name);

// Turns "sm_121" into "sm_121a" and returns an exact target unchanged. Fails unless the text is sm_<digits> with an
// optional a or f.
[[nodiscard]] TMA_JIT_API Result<std::string> normalise_arch(std::string_view arch);

}  // namespace tma_jit
