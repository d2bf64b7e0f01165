// A launch's time on a device that need not be present, computed from its plan and the device's facts. docs/estimate.md
// has the model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tma_jit/device_info.h>
#include <tma_jit/export.h>
#include <tma_jit/plan.h>

namespace tma_jit {

// Times are in microseconds, amounts in bytes and operations of one launch.
struct Estimate {
  // What the launch spends most of its time on.
  enum class Bound : std::uint8_t { tensor_cores, cuda_cores, shared_memory, l2, hbm, latency };

  // The time of each part of the device if the others took none.
  struct Terms {
    double compute_us = 0;  // tensor cores, or CUDA cores for a kernel that does not use them
    double shared_memory_us = 0;
    double l2_us = 0;
    double hbm_us = 0;
    double latency_us = 0;  // of the launch, of the first and last steps of tiles, and of copies too few to hide theirs
  };

  double time_us = 0;
  Bound bound = Bound::hbm;
  double share = 0;  // of the device's peak: the larger of operations at the peak rate and bytes at the peak bandwidth,
                     // over time_us
  double peak_tflops = 0;  // that rate: of tensor cores for the type of the first input, or of CUDA cores
  std::int64_t waves = 0;  // rounds of blocks, or of tiles that blocks make in turn, until all are done
  double tail = 0;         // part of the device that the last wave occupies, more than 0 and at most 1; 0: empty launch
  std::int64_t blocks_per_sm = 0;  // that are resident together
  Terms terms{};
  double flops = 0;
  double shared_memory_bytes = 0;  // written to and read from shared memory; 0: not modelled
  double l2_bytes = 0;             // that blocks read from L2
  double hbm_bytes = 0;
  bool described = true;  // false: the manifest states no work, and hbm_bytes is the size of the tensors
  std::string origin{};   // where the model's constants come from
};

// Returns "tensor cores", "CUDA cores", "shared memory", "L2", "HBM" or "latency".
TMA_JIT_API const char* name_of(Estimate::Bound bound);

// Returns the text of the shipped constants, a JSON object: each value has its origin.
TMA_JIT_API std::string_view estimate_constants();

// Pure. `constants` replaces those that are shipped: a text of the same form, or empty. Fails (parse) if it is not one,
// and (invalid_argument) if the device lacks a fact that the model needs.
[[nodiscard]] TMA_JIT_API Result<Estimate> estimate(const Plan& plan, const DeviceInfo& device,
                                                    std::string_view constants = {});

}  // namespace tma_jit
