// Estimates as JSON.
#include <tma_jit/json.h>

#include <nlohmann/json.hpp>

namespace tma_jit {

std::string json_of(const Estimate& estimate) {
  using Json = nlohmann::ordered_json;
  const Estimate::Terms& terms = estimate.terms;
  const Json object = {{"time_us", estimate.time_us},
                       {"bound", name_of(estimate.bound)},
                       {"share", estimate.share},
                       {"peak_tflops", estimate.peak_tflops},
                       {"waves", estimate.waves},
                       {"tail", estimate.tail},
                       {"blocks_per_sm", estimate.blocks_per_sm},
                       {"terms",
                        {{"compute_us", terms.compute_us},
                         {"shared_memory_us", terms.shared_memory_us},
                         {"l2_us", terms.l2_us},
                         {"hbm_us", terms.hbm_us},
                         {"latency_us", terms.latency_us}}},
                       {"flops", estimate.flops},
                       {"shared_memory_bytes", estimate.shared_memory_bytes},
                       {"l2_bytes", estimate.l2_bytes},
                       {"hbm_bytes", estimate.hbm_bytes},
                       {"described", estimate.described},
                       {"origin", estimate.origin}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tma_jit
