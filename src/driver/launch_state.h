// The implementation of a Launch: the engine creates it, launch.cpp runs it.
#pragma once

#include <memory>
#include <vector>

#include <tma_jit/launch.h>

#include "driver/argument_buffer.h"
#include "driver/kernel.h"
#include "driver/launch_configuration.h"
#include "driver/memory.h"

namespace tma_jit {

namespace driver {

// A kernel that only lacks its arguments. Immutable; shared by a Launch, or by all calls of one shape of a Function.
struct Prepared {
  Prepared(Plan made_plan, std::shared_ptr<const Artifact> built, SharedKernel loaded)
      : plan(std::move(made_plan)),
        artifact(std::move(built)),
        kernel(std::move(loaded)),
        configuration(plan.geometry) {}

  const Plan plan;
  const std::shared_ptr<const Artifact> artifact;
  const SharedKernel kernel;
  const LaunchConfiguration configuration;
};
using SharedPrepared = std::shared_ptr<const Prepared>;

// Checks the plan against the kernel and the device.
[[nodiscard]] Result<SharedPrepared> prepare(Plan plan, std::shared_ptr<const Artifact> artifact, SharedKernel kernel);

// Calls cuLaunchKernelEx, and pushes the context only if another one is current.
[[nodiscard]] Result<void> launch(const Prepared& prepared, void** arguments, CUstream stream);

// Allocates the workspaces that the request does not give, clears those that the template requires to be zero, and
// writes their addresses into `arguments`.
[[nodiscard]] Result<std::vector<Memory>> make_workspaces(const Prepared& prepared, Arguments& arguments);

}  // namespace driver

struct Launch::State {
  driver::SharedPrepared prepared;
  driver::Arguments arguments;
  std::vector<driver::Memory> workspaces;

  [[nodiscard]] static Result<std::unique_ptr<State>> make(driver::SharedPrepared prepared);
};

// The only way to create a Launch.
struct LaunchInternals {
  static Launch launch_of(std::unique_ptr<Launch::State> state) { return Launch(std::move(state)); }
};

}  // namespace tma_jit
