// The same launches on two engines, from the same data, and how far their outputs are apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "element.h"
#include "engine/state.h"
#include "plan/example.h"
#include "plan/planner.h"
#include "support/shard.h"
#include "trial.h"

namespace tma_jit::testing {

// By output: its elements, row-major.
struct Output {
  DType dtype;
  std::vector<std::byte> elements;
};
using Outputs = std::map<std::string, Output>;

inline cli::Outcome<Outputs> outputs_of(Engine& engine, const Request& request, cli::DataKind kind) {
  cli::DataChoices choices;
  choices.recipe = {kind, 1, true};
  CLI_ASSIGN(cli::Trial trial, cli::prepare_trial(engine, request, choices));
  CLI_CHECK(cli::run_trial(engine, trial));
  Outputs outputs;
  for (const cli::DeviceTensor& tensor : trial.tensors) {
    if (!tensor.output) continue;
    CLI_ASSIGN(const std::vector<std::byte> content, cli::download(tensor));
    outputs[tensor.name] = {tensor.dtype, cli::packed(tensor, content)};
  }
  return outputs;
}

inline int mantissa_bits(DType type) {
  switch (type) {
    case DType::f64: return 52;
    case DType::f32: return 23;
    case DType::f16: return 10;
    case DType::bf16: return 7;
    case DType::e4m3: return 3;
    case DType::e5m2: return 2;
    default: return 0;  // integers: a unit is 1
  }
}

inline bool is_integer(DType type) {
  return mantissa_bits(type) == 0;
}

// Units in the last place of a value of this size.
inline double ulp_of(DType type, double size) {
  if (is_integer(type)) return 1;
  return std::ldexp(1.0, (size == 0 ? -1022 : std::ilogb(size)) - mantissa_bits(type));
}

// What two runs differ by.
struct Agreement {
  std::int64_t elements = 0;
  std::int64_t differing = 0;  // in their bits
  double most_ulp = 0;         // of the larger value's size, or of the output's root mean square where that is larger
  std::string fault;           // of a run that failed
};

inline double root_mean_square(const Output& output) {
  const cli::Decoder decode(output.dtype);
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t at = 0; at + decode.size() <= output.elements.size(); at += decode.size()) {
    const double x = decode(output.elements.data() + at);
    if (!std::isfinite(x)) continue;
    sum += x * x;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

inline void compare_outputs(const Output& a, const Output& b, Agreement& agreement) {
  const cli::Decoder decode(a.dtype);
  const double rms = is_integer(a.dtype) ? 0 : root_mean_square(a);
  for (std::size_t at = 0; at + decode.size() <= a.elements.size(); at += decode.size()) {
    ++agreement.elements;
    if (std::memcmp(&a.elements[at], &b.elements[at], decode.size()) == 0) continue;
    ++agreement.differing;
    const double x = decode(&a.elements[at]), y = decode(&b.elements[at]);
    if (std::isnan(x) && std::isnan(y)) continue;  // whose payloads are nobody's business
    const double size = std::max({std::fabs(x), std::fabs(y), rms});
    const double ulps = std::isfinite(x - y) ? std::fabs(x - y) / ulp_of(a.dtype, size) : HUGE_VAL;
    agreement.most_ulp = std::max(agreement.most_ulp, ulps);
  }
}

inline Agreement compare_engines(Engine& a, Engine& b, const Request& request, cli::DataKind kind) {
  Agreement agreement;
  const auto first = outputs_of(a, request, kind), second = outputs_of(b, request, kind);
  for (const auto* side : {&first, &second}) {
    if (*side) continue;
    agreement.fault = (side == &first ? "here: " : "in the emulator: ") + (*side).error().error.text();
    return agreement;
  }
  for (const auto& [name, output] : *first) compare_outputs(output, second->at(name), agreement);
  return agreement;
}

// The presets of every probe and kernel that serves `arch`, in problems that are small for kernels, of which not all
// may be chosen, of the kernels of `shard`.
inline std::vector<Request> small_presets(Engine& engine, const std::string& arch,
                                          const plan::ExampleChoice& of_kernels = {}, Shard shard = {}) {
  std::map<std::string, plan::ExampleChoice> kernels;
  for (const auto& info : engine.kernels()) {
    if (info && std::ranges::any_of(info->archs, [&](const std::string& listed) { return plan::serves(listed, arch); }))
      kernels[info->kernel] = info->probe ? plan::ExampleChoice() : of_kernels;
  }
  std::vector<Request> all;
  std::size_t number = 0;
  for (const auto& [kernel, choice] : kernels) {
    if (!shard.has(number++)) continue;
    const auto selection = EngineInternals::state_of(engine).select(kernel);
    if (!selection) continue;
    auto presets = plan::preset_examples(engine.device().value(), selection->templates(), {}, choice);
    if (presets) std::ranges::move(*presets, std::back_inserter(all));
  }
  return all;
}

}  // namespace tma_jit::testing
