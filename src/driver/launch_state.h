// What stands behind a Launch; the engine makes it, launch.cpp runs it.
#pragma once

#include <memory>
#include <vector>

#include <tma_jit/launch.h>

#include "driver/arguments.h"
#include "driver/kernel.h"
#include "driver/launch_configuration.h"
#include "driver/memory.h"

namespace tma_jit {

namespace driver {

// A kernel ready to be given arguments. Immutable and shared: by a Launch, and by all calls of one shape of a Function.
struct Prepared {
  Prepared(Plan made_plan, std::shared_ptr<const Cubin> built, SharedKernel loaded)
      : plan(std::move(made_plan)), cubin(std::move(built)), kernel(std::move(loaded)), configuration(plan.geometry) {}

  const Plan plan;
  const std::shared_ptr<const Cubin> cubin;
  const SharedKernel kernel;
  const LaunchConfiguration configuration;
};
using SharedPrepared = std::shared_ptr<const Prepared>;

// Checks the plan against the kernel and the device.
Result<SharedPrepared> prepare(Plan plan, std::shared_ptr<const Cubin> cubin, SharedKernel kernel);

// The one call: cuLaunchKernelEx, with the context pushed around it only where the caller's is another.
Result<void> launch(const Prepared& prepared, void** arguments, CUstream stream);

// Memory for the workspaces the request does not give, cleared where the template asks for it; written into
// `arguments`.
Result<std::vector<Memory>> make_workspaces(const Prepared& prepared, Arguments& arguments);

}  // namespace driver

struct Launch::State {
  driver::SharedPrepared prepared;
  driver::Arguments arguments;
  std::vector<driver::Memory> workspaces;

  static Result<std::unique_ptr<State>> make(driver::SharedPrepared prepared);
};

}  // namespace tma_jit
