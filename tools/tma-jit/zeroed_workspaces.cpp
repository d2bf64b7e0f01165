#include "zeroed_workspaces.h"

#include <algorithm>
#include <cstddef>

namespace tma_jit::cli {

Outcome<std::vector<ZeroedWorkspace>> give_zeroed_workspaces(Engine& engine, Launch& launch) {
  std::vector<ZeroedWorkspace> zeroed;
  for (const Workspace& workspace : workspaces_of(launch.plan())) {
    if (!workspace.zeroed || workspace.given || workspace.bytes == 0) continue;
    CLI_ASSIGN(DeviceBuffer buffer, DeviceBuffer::allocate(engine, workspace.bytes));
    const std::vector<std::byte> zeros(workspace.bytes);
    CLI_CHECK(buffer.upload(zeros.data(), zeros.size()));
    CLI_CHECK(launch.rebind(workspace.name, buffer.address()));
    zeroed.push_back({workspace.name, std::move(buffer)});
  }
  return zeroed;
}

Outcome<bool> are_zero(const std::vector<ZeroedWorkspace>& workspaces) {
  for (const ZeroedWorkspace& workspace : workspaces) {
    std::vector<std::byte> content(workspace.buffer.bytes());
    CLI_CHECK(workspace.buffer.download(content.data(), content.size()));
    if (std::ranges::any_of(content, [](std::byte byte) { return byte != std::byte{0}; })) return false;
  }
  return true;
}

}  // namespace tma_jit::cli
