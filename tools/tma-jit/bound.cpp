#include "bound.h"

#include <algorithm>

namespace tma_jit::cli {
namespace {

DType input_type(const Trial& trial) {
  for (const DeviceTensor& tensor : trial.tensors)
    if (!tensor.output) return tensor.dtype;
  return DType::f32;
}

}  // namespace

Bound bound_of(const Trial& trial, const DeviceInfo& device) {
  const Work& work = trial.launch.plan().work;
  Bound bound;
  const std::size_t size = size_of(input_type(trial));
  // Tensor cores have twice the rate for 8-bit as for 16-bit elements on every architecture with TMA.
  bound.peak_tflops = size == 2 ? device.bf16_tflops : size == 1 ? 2 * device.bf16_tflops : device.f32_tflops;
  bound.unit = size == 2 ? "bf16" : size == 1 ? "8-bit" : "f32";
  bound.peak_gb_per_s = device.memory_gb_per_s;
  const double compute_us = bound.peak_tflops > 0 ? work.flops / bound.peak_tflops * 1e-6 : 0;
  const double memory_us = bound.peak_gb_per_s > 0 ? work.bytes / bound.peak_gb_per_s * 1e-3 : 0;
  bound.compute = compute_us > memory_us;
  bound.floor_us = std::max(compute_us, memory_us);
  return bound;
}

std::string peak_of(const Bound& bound) {
  if (bound.compute) return fmt::format("{:.4g} {} TFLOP/s", bound.peak_tflops, bound.unit);
  return fmt::format("{:.4g} GB/s", bound.peak_gb_per_s);
}

}  // namespace tma_jit::cli
