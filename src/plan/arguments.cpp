#include "plan/arguments.h"

#include <algorithm>

#include "core/argument_images.h"
#include "plan/fault.h"
#include "plan/hook_arguments.h"
#include "plan/scalar_argument.h"
#include "plan/tensor_map_rules.h"
#include "plan/tensor_maps.h"
#include "plan/value_range.h"

namespace tma_jit::plan {
namespace {

// Returns the size of a View, a tensor map, or a Mapped (the map, a View, and padding to the map's alignment).
std::size_t image_bytes(const Argument& argument, std::size_t rank) {
  const std::size_t view = view_bytes(rank);
  if (argument.kind == Argument::Kind::view) return view;
  if (!argument.viewed) return kMapBytes;
  return kMapBytes + (view + kMapAlignment - 1) / kMapAlignment * kMapAlignment;
}

bool asks_alignment(const templates::Template& kernel, std::string_view tensor) {
  return std::ranges::any_of(kernel.references, [&](const templates::Reference& reference) {
    return reference.kind == templates::Reference::Kind::alignment && reference.name == tensor;
  });
}

// Returns the smallest alignment of the address for which the configuration stays valid: the planner assumed the actual
// alignment, but a less aligned address may also work.
std::uint32_t needed_alignment(Values& values, const std::vector<Condition>& conditions, const Argument& argument,
                               std::uint32_t least) {
  if (!asks_alignment(*values.binding().kernel, argument.name)) return least;
  const std::int64_t actual = alignment_of_address(argument.address);
  std::int64_t need = least;
  for (; need < actual; need *= 2) {
    values.set_alignment(argument.name, need);
    if (valid(values, conditions)) break;
  }
  values.set_alignment(argument.name, actual);
  return static_cast<std::uint32_t>(need);
}

Result<Argument> tensor_argument(Values& values, const std::vector<Condition>& conditions, std::size_t index) {
  const Binding& binding = values.binding();
  const templates::Tensor& declared = binding.kernel->tensors[index];
  const Tensor* given = binding.tensors[index];
  Argument argument;
  argument.name = declared.name;
  argument.list = declared.list;
  argument.output = declared.output;
  argument.early = declared.early;
  argument.dtype = binding.element_of(declared);
  const bool mapped = declared.box.has_value() && binding.stand_in() == nullptr;
  argument.kind = mapped ? Argument::Kind::tensor_map : Argument::Kind::view;
  argument.alignment = mapped ? kMapAlignment : 8;
  argument.viewed = mapped && declared.viewed;
  argument.image.resize(image_bytes(argument, declared.shape.size()));
  TMA_JIT_ASSIGN(argument.present, values.present(index));
  if (!argument.present) return argument;

  TMA_JIT_ASSIGN(Layout layout, values.layout(index));
  argument.address = given != nullptr ? given->address : 0;
  auto least = static_cast<std::uint32_t>(size_of(argument.dtype));
  if (mapped && !layout.empty()) {
    TMA_JIT_ASSIGN(argument.map, map_spec(values, index, layout));
    least = alignment_of(*argument.map);
  }
  if (!mapped || argument.viewed) put_view(argument.image, mapped ? kMapBytes : 0, argument.address, layout.strides);
  argument.address_alignment = needed_alignment(values, conditions, argument, least);
  TMA_JIT_ASSIGN(argument.range, range_of(values, declared, layout));
  argument.shape = std::move(layout.shape);
  argument.strides = std::move(layout.strides);
  return argument;
}

Result<Argument> workspace_argument(const Values& values, const templates::Workspace& declared) {
  const Binding& binding = values.binding();
  Argument argument;
  argument.kind = Argument::Kind::workspace;
  argument.name = declared.name;
  argument.dtype = DType::u8;
  argument.workspace_zeroed = declared.zeroed;
  argument.address_alignment = kWorkspaceAlignment;
  TMA_JIT_ASSIGN(const std::int64_t bytes, declared.bytes.evaluate(values));
  if (bytes < 0) {
    const std::string names = declared.bytes.values(values);
    return fault(*binding.kernel, ErrorCode::invalid_argument, "workspace {} is {} bytes{}{}", declared.name, bytes,
                 names.empty() ? "" : ": ", names);
  }
  argument.workspace_bytes = static_cast<std::uint64_t>(bytes);
  const auto given = binding.request->workspaces.find(declared.name);
  if (given != binding.request->workspaces.end()) argument.address = given->second;
  if (argument.address % kWorkspaceAlignment != 0) {
    return fault(*binding.kernel, ErrorCode::invalid_argument, "workspace {}: address {:#x} is not a multiple of {}",
                 declared.name, argument.address, kWorkspaceAlignment);
  }
  argument.image.resize(view_bytes(0));
  put_view(argument.image, 0, argument.address, {});
  return argument;
}

}  // namespace

std::vector<DimValue> dims_of(const Binding& binding) {
  std::vector<DimValue> dims;
  dims.reserve(binding.dims.size());
  for (std::size_t i = 0; i < binding.dims.size(); ++i) {
    const templates::Dim& declared = binding.kernel->dims[i];
    const bool fixed = declared.value.has_value() || binding.fixed.contains(declared.name);
    dims.push_back({declared.name, binding.dims[i], declared.wide, fixed, declared.list});
  }
  return dims;
}

Result<std::vector<Argument>> arguments_of(Values& values, const std::vector<Condition>& conditions) {
  const Binding& binding = values.binding();
  const templates::Template& kernel = *binding.kernel;
  std::vector<Argument> arguments;
  arguments.reserve(kernel.tensors.size() + kernel.workspaces.size() + kernel.scalars.size() + 2);
  for (std::size_t i = 0; i < kernel.tensors.size(); ++i) {
    if (kernel.tensors[i].operand) continue;
    TMA_JIT_ASSIGN(Argument argument, tensor_argument(values, conditions, i));
    arguments.push_back(std::move(argument));
  }
  for (const templates::Workspace& declared : kernel.workspaces) {
    if (binding.stand_in() != nullptr) break;  // a reference uses no workspaces
    TMA_JIT_ASSIGN(Argument argument, workspace_argument(values, declared));
    arguments.push_back(std::move(argument));
  }
  for (const templates::Scalar& declared : kernel.scalars) {
    if (declared.operand) continue;
    TMA_JIT_ASSIGN(Argument argument, scalar_argument(binding, declared));
    arguments.push_back(std::move(argument));
  }
  if (!kernel.dims.empty()) arguments.push_back(dims_argument(dims_of(binding)));
  TMA_JIT_ASSIGN(std::vector<Argument> hooks, hook_arguments(values));
  std::ranges::move(hooks, std::back_inserter(arguments));
  return arguments;
}

}  // namespace tma_jit::plan
