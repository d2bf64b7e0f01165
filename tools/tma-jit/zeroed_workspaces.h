// The workspaces that must be zero before a launch, and after it for the next one.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include "outcome.h"

namespace tma_jit::cli {

struct ZeroedWorkspace {
  std::string name;
  DeviceBuffer buffer;
};

// Gives the launch cleared memory for those that its request does not give. The memory must live as long as the launch.
[[nodiscard]] Outcome<std::vector<ZeroedWorkspace>> give_zeroed_workspaces(Engine& engine, Launch& launch);

// Returns the number of bytes that are not zero.
[[nodiscard]] Outcome<std::int64_t> count_nonzero(const ZeroedWorkspace& workspace);

}  // namespace tma_jit::cli
