// The workspaces that are zero before the first launch, and that each launch leaves as the next one needs them.
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

[[nodiscard]] Outcome<bool> are_zero(const std::vector<ZeroedWorkspace>& workspaces);

}  // namespace tma_jit::cli
