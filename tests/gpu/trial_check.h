// One launch as `tma-jit run --check` makes it: random data, poisoned outputs, the template's float64 reference.
#pragma once

#include <string>

#include "trial.h"

namespace tma_jit::testing {

// "" where every launch of the prepared kernel agrees with the reference; else what went wrong. Repeated launches meet
// the workspaces as the one before left them.
inline std::string fault_of(Engine& engine, const Request& request, const cli::DataChoices& choices = {},
                            int launches = 1) {
  cli::DataChoices checked = choices;
  checked.recipe.strays = true;
  auto trial = cli::prepare_trial(engine, request, std::move(checked));
  if (!trial) return trial.error().error.text();
  for (int i = 0; i < launches; ++i) {
    if (const auto ran = cli::run_trial(engine, *trial); !ran) return ran.error().error.text();
  }
  const auto check = cli::check_trial(engine, *trial);
  if (!check) return check.error().error.text();
  return check->passed() ? "" : cli::describe(*check);
}

}  // namespace tma_jit::testing
