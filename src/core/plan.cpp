// Queries about a plan that several modules need.
#include <tma_jit/plan.h>

namespace tma_jit {

std::map<std::string, DType> types_of(const Plan& plan) {
  std::map<std::string, DType> types;
  for (const Constant& constant : plan.constants) {
    if (constant.kind == Constant::Kind::type && constant.origin == "type") types[constant.name] = constant.type;
  }
  return types;
}

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
