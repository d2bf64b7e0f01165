#include "plan/hook_arguments.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/failure.h"
#include "plan/scalar_argument.h"

namespace tma_jit::plan {
namespace {

constexpr std::int64_t kEveryIndex = std::numeric_limits<std::int64_t>::max();

// A dimension declared with extent 1 is broadcast: its stride is 0.
void broadcast(const templates::Tensor& declared, std::vector<std::int64_t>& strides,
               std::vector<std::int64_t>& extents) {
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (declared.shape[i].constant() != 1) continue;
    strides[i] = 0;
    extents[i] = kEveryIndex;
  }
}

// Returns the image of device/tile/operand.cuh's struct: the address, strides in elements, extents.
std::vector<std::byte> image_of(const Argument& operand, const std::vector<std::int64_t>& extents) {
  std::vector<std::uint64_t> words = {operand.address};
  words.insert(words.end(), operand.strides.begin(), operand.strides.end());
  words.insert(words.end(), extents.begin(), extents.end());
  std::vector<std::byte> image(8 * words.size());
  std::memcpy(image.data(), words.data(), image.size());
  return image;
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
  operand.address_alignment = static_cast<std::uint32_t>(size_of(operand.dtype));
  operand.shape = layout.shape;
  operand.strides = std::move(layout.strides);
  broadcast(declared, operand.strides, layout.shape);
  operand.image = image_of(operand, layout.shape);
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

// Lays out `struct alignas(8) Hooks` as a C++ compiler does: members in order, each at a multiple of its alignment. An
// empty struct takes 8 bytes.
Argument struct_of(std::vector<Argument>& operands) {
  Argument hooks;
  hooks.kind = Argument::Kind::hooks;
  hooks.name = "hooks";
  hooks.alignment = 8;
  std::size_t end = 0;
  for (Argument& operand : operands) {
    operand.hooks_offset = (end + operand.alignment - 1) / operand.alignment * operand.alignment;
    end = *operand.hooks_offset + operand.image.size();
  }
  hooks.image.resize(
      std::max<std::size_t>(hooks.alignment, (end + hooks.alignment - 1) / hooks.alignment * hooks.alignment));
  return hooks;
}

}  // namespace

Result<std::vector<Argument>> hook_arguments(const Values& values) {
  if (values.binding().kernel->hooks.empty()) return std::vector<Argument>();
  TMA_JIT_ASSIGN(std::vector<Argument> arguments, operands_of(values));
  arguments.insert(arguments.begin(), struct_of(arguments));
  return arguments;
}

}  // namespace tma_jit::plan
