// The cost model: what a plan demands, divided by what a device delivers.
#include <tma_jit/estimate.h>

#include <algorithm>
#include <cmath>

#include "base/embedded_file.h"
#include "core/failure.h"
#include "estimation/constants.h"
#include "estimation/demand.h"

namespace tma_jit {

// src/estimation/constants.json, embedded by src/CMakeLists.txt.
extern const EmbeddedFile kEstimateConstants[];
extern const unsigned long kEstimateConstantsCount;

namespace {

using estimation::Constants;
using estimation::Demand;
using estimation::Product;
using estimation::Unit;
using Bound = Estimate::Bound;

double norm(double a, double b, double exponent) {
  const double most = std::max(a, b);
  if (most <= 0) return 0;
  return most * std::pow(std::pow(a / most, exponent) + std::pow(b / most, exponent), 1 / exponent);
}

// What one device delivers. Cycles are of an SM at the maximum clock.
class Model {
 public:
  Model(const Demand& demand, const DeviceInfo& device, const Constants& constants)
      : demand_(demand), device_(device), constants_(constants), cycles_per_us_(device.clock_mhz) {}

  Estimate run() {
    if (demand_.pieces == 0 || demand_.hbm_bytes + demand_.flops == 0) {
      terms_.latency_us = constants_.launch_us;
    } else if (demand_.is_product) {
      time_product();
    } else {
      time_stream();
    }
    return result();
  }

 private:
  // Operations per microsecond at the datasheet's rate, which for tensor cores is inverse to an element's size.
  double peak_rate() const {
    if (demand_.unit == Unit::none && demand_.element_bytes != 2) return device_.f32_tflops * 1e6;
    return device_.bf16_tflops * 2 / demand_.element_bytes * 1e6;
  }

  double sustained_share() const {
    switch (demand_.unit) {
      case Unit::mma: return constants_.mma_share;
      case Unit::wgmma: return constants_.wgmma_share;
      case Unit::tcgen05: return constants_.tcgen05_share;
      case Unit::none: break;
    }
    return constants_.f32_share;
  }

  double rate() const {
    return (demand_.unit == Unit::none ? device_.f32_tflops * 1e6 : peak_rate()) * sustained_share();
  }

  double hbm_us() const {
    const double filled =
        device_.l2_bytes > 0 ? std::min(1.0, demand_.hbm_bytes / static_cast<double>(device_.l2_bytes)) : 1.0;
    return demand_.hbm_bytes / (constants_.hbm_share * device_.memory_gb_per_s * 1e3) + constants_.fill_us * filled;
  }

  // A kernel that passes over its tensors, or multiplies and does more: its blocks are independent.
  void time_stream() {
    terms_.hbm_us = hbm_us();
    const double fused = demand_.unit == Unit::none ? 1 : constants_.fused_share;
    const double full = static_cast<double>(demand_.pieces) / static_cast<double>(demand_.waves * demand_.at_once);
    terms_.compute_us = demand_.flops / (rate() * fused * full);
    const double intake = static_cast<double>(std::min<std::int64_t>(demand_.at_once, device_.sm_count)) *
                          constants_.l2_bytes_per_cycle * cycles_per_us_;
    l2_bytes_ = demand_.hbm_bytes;
    terms_.l2_us = l2_bytes_ / intake;
    terms_.latency_us = constants_.launch_us + constants_.latency_cycles / cycles_per_us_;
    const double busy = norm(terms_.compute_us, terms_.l2_us, constants_.overlap_sm);
    time_us_ = constants_.launch_us + norm(busy, terms_.hbm_us, constants_.overlap_hbm);
  }

  // A product: the blocks of an SM go through the steps of their tiles together.
  void time_product() {
    const Product& product = demand_.product;
    const std::int64_t blocks = (demand_.at_once + device_.sm_count - 1) / device_.sm_count;
    const auto sharing = static_cast<double>(blocks);
    const double sm_rate = rate() / device_.sm_count / cycles_per_us_;
    const double compute = sharing * product.flops / sm_rate;
    const double shared = sharing * std::max(product.shared_bytes / constants_.shared_bytes_per_cycle,
                                             product.accesses * constants_.access_cycles);
    const double l2 = sharing * product.loaded_bytes / constants_.l2_bytes_per_cycle;
    const double latency = constants_.latency_cycles / static_cast<double>(product.stages);
    const double exponent = constants_.overlap_sm;
    const double step = norm(norm(compute, shared, exponent), norm(l2, latency, exponent), exponent);

    const auto waves = static_cast<double>(demand_.waves);
    const double steps = waves * static_cast<double>(product.steps);
    const double stores = (product.stores_overlap ? 1 : waves) * sharing * constants_.store_cycles * product.elements;
    const double sums =
        product.parts == 1 ? 0 : constants_.reduce_cycles + constants_.reduce_store_cycles * product.elements;
    const double around = waves * constants_.tile_cycles + steps * constants_.step_cycles + stores + sums;
    const double cycles = steps * step + around;
    const double work = compute + constants_.sag_traffic * l2;  // what draws power
    const double slower = sag(cycles / cycles_per_us_, steps * work / cycles);

    terms_.compute_us = steps * compute / cycles_per_us_ * slower;
    terms_.shared_memory_us = steps * shared / cycles_per_us_ * slower;
    terms_.l2_us = steps * l2 / cycles_per_us_ * slower;
    terms_.hbm_us = hbm_us();
    const double begin = constants_.launch_us + constants_.product_us;
    terms_.latency_us = begin + (steps * latency + around) / cycles_per_us_;
    const auto pieces = static_cast<double>(demand_.pieces * product.steps);
    l2_bytes_ = pieces * product.loaded_bytes;
    shared_bytes_ = pieces * product.shared_bytes;
    time_us_ = begin + norm(cycles / cycles_per_us_ * slower, terms_.hbm_us, constants_.overlap_hbm);
  }

  // How many times longer a launch takes at the clock that the power limit leaves, if its SMs work for the given part
  // of its time.
  double sag(double us, double busy) const { return 1 + constants_.sag * busy * us / (us + constants_.sag_us); }

  Bound bound() const {
    const std::pair<double, Bound> parts[] = {
        {terms_.compute_us, demand_.unit == Unit::none ? Bound::cuda_cores : Bound::tensor_cores},
        {terms_.shared_memory_us, Bound::shared_memory},
        {terms_.l2_us, Bound::l2},
        {terms_.hbm_us, Bound::hbm},
        {terms_.latency_us, Bound::latency}};
    return std::ranges::max_element(parts, {}, &std::pair<double, Bound>::first)->second;
  }

  Estimate result() const {
    Estimate result;
    result.time_us = std::max(time_us_, constants_.launch_us);
    result.bound = bound();
    const double compute = peak_rate() > 0 ? demand_.flops / peak_rate() : 0;
    const double memory = demand_.needed_bytes / (device_.memory_gb_per_s * 1e3);
    if (demand_.pieces > 0 && result.time_us > 0) result.share = std::max(compute, memory) / result.time_us;
    result.peak_tflops = peak_rate() * 1e-6;
    result.waves = demand_.waves;
    result.tail = demand_.tail;
    result.blocks_per_sm = demand_.blocks_per_sm;
    result.terms = terms_;
    result.flops = demand_.flops;
    result.shared_memory_bytes = shared_bytes_;
    result.l2_bytes = l2_bytes_;
    result.hbm_bytes = demand_.hbm_bytes;
    result.described = demand_.described;
    result.origin = constants_.origin;
    return result;
  }

  const Demand& demand_;
  const DeviceInfo& device_;
  const Constants& constants_;
  const double cycles_per_us_;
  Estimate::Terms terms_;
  double time_us_ = 0, l2_bytes_ = 0, shared_bytes_ = 0;
};

Result<void> check(const DeviceInfo& device) {
  const std::pair<double, const char*> needed[] = {{device.sm_count, "sm_count"},
                                                   {device.clock_mhz, "clock_mhz"},
                                                   {device.memory_gb_per_s, "memory_gb_per_s"},
                                                   {device.bf16_tflops, "bf16_tflops"},
                                                   {device.f32_tflops, "f32_tflops"}};
  for (const auto& [value, name] : needed) {
    if (!(value > 0)) {
      return failure(ErrorCode::invalid_argument, "estimate: {} of the device \"{}\" is not known", name, device.name);
    }
  }
  return {};
}

}  // namespace

const char* name_of(Estimate::Bound bound) {
  switch (bound) {
    case Bound::tensor_cores: return "tensor cores";
    case Bound::cuda_cores: return "CUDA cores";
    case Bound::shared_memory: return "shared memory";
    case Bound::l2: return "L2";
    case Bound::hbm: return "HBM";
    case Bound::latency: return "latency";
  }
  return "";
}

std::string_view estimate_constants() {
  return kEstimateConstants[0].text();
}

Result<Estimate> estimate(const Plan& plan, const DeviceInfo& device, std::string_view constants) {
  TMA_JIT_CHECK(check(device));
  TMA_JIT_ASSIGN(const Constants chosen,
                 estimation::constants_for(device.arch, constants.empty() ? estimate_constants() : constants));
  return Model(estimation::demand_of(plan, device), device, chosen).run();
}

}  // namespace tma_jit
