// The workspaces of a plan.
#include <tma_jit/plan.h>

namespace tma_jit {

std::vector<Workspace> workspaces_of(const Plan& plan) {
  std::vector<Workspace> workspaces;
  for (const Argument& argument : plan.arguments) {
    if (argument.kind != Argument::Kind::workspace) continue;
    workspaces.push_back({argument.name, argument.workspace_bytes, argument.address_alignment,
                          argument.workspace_zeroed, argument.address != 0});
  }
  return workspaces;
}

}  // namespace tma_jit
