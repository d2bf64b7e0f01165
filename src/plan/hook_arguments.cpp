#include "plan/hook_arguments.h"

#include <algorithm>

#include "core/argument_images.h"
#include "core/failure.h"
#include "plan/scalar_argument.h"
#include "plan/value_range.h"

namespace tma_jit::plan {
namespace {

// A dimension declared with extent 1 is broadcast: its stride is 0.
void broadcast(const templates::Tensor& declared, std::vector<std::int64_t>& strides,
               std::vector<std::int64_t>& extents) {
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (declared.shape[i].constant() != 1) continue;
    strides[i] = 0;
    extents[i] = kEveryIndex;
  }
}

// Returns whether the rows consist of whole groups of `count` elements, each of which begins at a multiple of its
// bytes.
bool consists_of(const Argument& operand, std::int64_t count) {
  if (operand.shape.empty() || operand.shape.back() % count != 0 || operand.strides.back() != 1) return false;
  const bool rows = std::all_of(operand.strides.begin(), operand.strides.end() - 1,
                                [=](std::int64_t stride) { return stride % count == 0; });
  return rows && operand.address % (static_cast<std::uint64_t>(count) * size_of(operand.dtype)) == 0;
}

// Returns the bytes of an access: 16 in matrices, or two elements, where the rows consist of as many; else one element.
std::uint32_t bytes_read(const Argument& operand) {
  const auto size = static_cast<std::uint32_t>(size_of(operand.dtype));
  if (operand.shape.size() > 1 && consists_of(operand, 16 / size)) return 16;
  return consists_of(operand, 2) ? 2 * size : size;
}

Result<Argument> tensor_operand(const Values& values, std::size_t index) {
  const Binding& binding = values.binding();
  const templates::Tensor& declared = binding.kernel->tensors[index];
  TMA_JIT_ASSIGN(Layout layout, values.layout(index));
  Argument operand;
  operand.kind = Argument::Kind::view;
  operand.name = declared.name;
  operand.declaration = declared.text;
  operand.dtype = binding.element_of(declared);
  operand.address = binding.tensors[index] != nullptr ? binding.tensors[index]->address : 0;
  TMA_JIT_ASSIGN(operand.range, range_of(values, declared, layout));
  operand.shape = layout.shape;
  operand.strides = std::move(layout.strides);
  operand.address_alignment = bytes_read(operand);
  broadcast(declared, operand.strides, layout.shape);
  operand.image = operand_image(operand.address, operand.strides, layout.shape);
  return operand;
}

Result<Argument> scalar_operand(const Binding& binding, const templates::Scalar& declared) {
  TMA_JIT_ASSIGN(Argument operand, scalar_argument(binding, declared));
  operand.declaration = declared.text;
  return operand;
}

Result<std::vector<Argument>> operands_of(const Values& values) {
  const templates::Template& kernel = *values.binding().kernel;
  std::vector<Argument> operands;
  for (std::size_t i = 0; i < kernel.tensors.size(); ++i) {
    if (!kernel.tensors[i].operand) continue;
    TMA_JIT_ASSIGN(Argument operand, tensor_operand(values, i));
    operands.push_back(std::move(operand));
  }
  for (const templates::Scalar& declared : kernel.scalars) {
    if (!declared.operand) continue;
    TMA_JIT_ASSIGN(Argument operand, scalar_operand(values.binding(), declared));
    operands.push_back(std::move(operand));
  }
  return operands;
}

}  // namespace

Result<std::vector<Argument>> hook_arguments(const Values& values) {
  if (values.binding().kernel->hooks.empty()) return std::vector<Argument>();
  TMA_JIT_ASSIGN(std::vector<Argument> arguments, operands_of(values));
  arguments.insert(arguments.begin(), hooks_argument(arguments));
  return arguments;
}

}  // namespace tma_jit::plan
