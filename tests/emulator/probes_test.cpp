// The presets of the tensor cores' probes on the emulator, on each architecture that has the unit, against the probe's
// own float64 reference, which the emulator runs as well. Needs NVRTC.
#include <algorithm>

#include <tma_jit/tma_jit.h>

#include "emulator/driver/table.h"
#include "gpu/trial_check.h"
#include "plan/planner.h"
#include "support/engines.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

namespace tma_jit {
namespace {

Engine emulated(const std::string& arch) {
  static const TemporaryFolder folder;
  Options options;
  options.device = std::to_string(emulator::ordinal_of(arch).value());
  options.cache_dir = folder.path();
  return testing::engine_with(options, emulator::load);
}

bool serves(const KernelInfo& info, const std::string& arch) {
  return std::any_of(info.archs.begin(), info.archs.end(),
                     [&](const std::string& listed) { return planning::serves(listed, arch); });
}

std::string said(const Request& request) {
  std::string text = request.kernel;
  for (const auto& [type, choice] : request.types) text += fmt::format(" {}={}", type, name_of(choice));
  for (const auto& [param, value] : request.params) text += fmt::format(" {}={}", param, value);
  return text;
}

bool is_of_tensor_cores(const std::string& probe) {
  return probe.starts_with("tcgen05") || probe.starts_with("mma_") || probe.starts_with("ldmatrix") ||
         probe.starts_with("stmatrix");
}

void check_probes(const std::string& arch) {
  Engine engine = emulated(arch);
  int checked = 0;
  for (const auto& info : engine.kernels()) {
    REQUIRE_MESSAGE(info, (info ? "" : info.error().text()));
    if (!info->probe || !is_of_tensor_cores(info->kernel) || !serves(*info, arch)) continue;
    const auto presets = engine.presets(info->kernel);
    REQUIRE_MESSAGE(presets, (presets ? "" : presets.error().text()));
    for (const Request& request : *presets) {
      const std::string fault = testing::fault_of(engine, request);
      if (!fault.empty()) FAIL_CHECK(arch << ": " << said(request) << "\n" << fault);
      ++checked;
    }
  }
  MESSAGE(arch << ": " << checked << " presets");
  CHECK(checked > 0);
}

}  // namespace

TEST_CASE("the tensor cores' probes of sm_90a agree with their references on the emulator") {
  check_probes("sm_90a");
}
TEST_CASE("the tensor cores' probes of sm_100a agree with their references on the emulator") {
  check_probes("sm_100a");
}
TEST_CASE("the tensor cores' probes of sm_121a agree with their references on the emulator") {
  check_probes("sm_121a");
}

}  // namespace tma_jit
