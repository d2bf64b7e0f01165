// One launch on real tensors, and the comparison of its outputs with the template's float64 reference.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare.h"
#include "console.h"
#include "request.h"
#include "tensors.h"
#include "zeroed_workspaces.h"

namespace tma_jit::cli {

struct Trial {
  Request request;  // with the tensors
  DataChoices choices;
  std::vector<DeviceTensor> tensors;
  std::vector<ZeroedWorkspace> zeroed;
  Launch launch;
  std::vector<std::string> notes;  // what there is to say of the files
};

// Plans from dims to find out the tensors, allocates and fills them, and prepares the launch.
[[nodiscard]] Outcome<Trial> prepare_trial(Engine& engine, Request request, DataChoices choices);

// Launches and waits.
[[nodiscard]] Outcome<void> run_trial(Engine& engine, Trial& trial);

struct OutputCheck {
  std::string name;
  DType dtype = DType::f32;
  Layout layout;
  Comparison comparison;
  std::int64_t stray_bytes = 0;  // bytes written outside the tensor

  bool passed() const { return comparison.passed() && stray_bytes == 0; }
};

struct TrialCheck {
  std::vector<OutputCheck> outputs;
  // The outputs of a second launch, where the first did not leave zero what it was given zero.
  std::vector<OutputCheck> again;
  Strictness strictness = Strictness::tolerant;
  bool passed() const;
};

// Runs the reference with the same configuration on the same inputs and compares every output element. If a workspace
// that was zero is no longer, launches once more with it and compares the outputs again. The inputs must not have
// changed since `trial` ran, and it must have run.
[[nodiscard]] Outcome<TrialCheck> check_trial(Engine& engine, const Trial& trial);

// Return one or more lines for display, and an object.
std::string describe(const TrialCheck& check);
Json to_json(const TrialCheck& check);

}  // namespace tma_jit::cli
