#include "driver/argument_buffer.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "driver/encode_tensor_map.h"
#include "driver/kernel.h"
#include "driver/reachable.h"

namespace tma_jit::driver {
namespace {

bool is_empty(const Argument& argument) {
  return std::find(argument.shape.begin(), argument.shape.end(), 0) != argument.shape.end();
}

Result<void> write_map(const Context& context, const Argument& argument, std::uint64_t address, std::byte* bytes,
                       bool encoded) {
  if (!argument.map) return {};
  // The driver does not encode a map unless a context is current (CUDA_ERROR_INVALID_CONTEXT, seen with driver 580).
  TMA_JIT_ASSIGN([[maybe_unused]] const Current current, Current::enter(context));
  CUtensorMap& map = *reinterpret_cast<CUtensorMap*>(bytes);
  if (encoded) {
    TMA_JIT_CHECK(replace_address(context, *argument.map, map, address));
  } else {
    TMA_JIT_ASSIGN(map, encode(context, *argument.map, address, argument.name));
  }
  if (argument.viewed) std::memcpy(bytes + sizeof map, &address, sizeof address);
  return {};
}

// Returns the offset of each argument in the storage: in order, each at the next multiple of its alignment. Operands of
// hooks lie inside the argument that holds them.
std::vector<std::size_t> offsets_of(std::span<const Argument> arguments) {
  std::vector<std::size_t> offsets;
  offsets.reserve(arguments.size());
  std::size_t end = 0, hooks = 0;
  for (const Argument& argument : arguments) {
    if (argument.hooks_offset.has_value()) {
      offsets.push_back(hooks + *argument.hooks_offset);
      continue;
    }
    const std::size_t alignment = std::max<std::size_t>(argument.alignment, 1);
    offsets.push_back((end + alignment - 1) / alignment * alignment);
    end = offsets.back() + argument.image.size();
    if (argument.kind == Argument::Kind::hooks) hooks = offsets.back();
  }
  return offsets;
}

}  // namespace

bool needs_address(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::tensor_map: return argument.present && argument.map.has_value();
    case Argument::Kind::view: return argument.present && !is_empty(argument);
    case Argument::Kind::workspace: return argument.workspace_bytes > 0;
    case Argument::Kind::scalar:
    case Argument::Kind::dims:
    case Argument::Kind::hooks: return false;
  }
  return false;
}

bool begins_parameter(std::span<const Argument> arguments, std::size_t index) {
  const Argument& argument = arguments[index];
  if (argument.hooks_offset.has_value()) return false;
  return argument.list.empty() || index == 0 || arguments[index - 1].list != argument.list;
}

Result<void> write_address(const Context& context, const Argument& argument, std::uint64_t address, std::byte* bytes,
                           bool encoded) {
  if (argument.kind == Argument::Kind::tensor_map) return write_map(context, argument, address, bytes, encoded);
  std::memcpy(bytes, &address, sizeof address);
  return {};
}

Result<void> check_address(const Argument& argument, std::uint64_t address) {
  if (address == 0) return failure(ErrorCode::invalid_argument, "{}: the address is null", argument.name);
  const std::uint32_t alignment = std::max<std::uint32_t>(argument.address_alignment, 1);
  if (address % alignment == 0) return {};
  return failure(ErrorCode::invalid_argument,
                 "{}: the address {:#x} is not a multiple of {} bytes, which this plan was made for; prepare a launch "
                 "for it",
                 argument.name, address, alignment);
}

Arguments::Arguments(std::span<const Argument> arguments)
    : arguments_(arguments), offsets_(offsets_of(arguments)), bound_(arguments.size()) {
  for (std::size_t i = 0; i < arguments.size(); ++i) size_ = std::max(size_, offsets_[i] + arguments[i].image.size());
  storage_.reset(new (std::align_val_t{kArgumentAlignment}) std::byte[std::max<std::size_t>(size_, 1)]());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::byte* at = storage_.get() + offsets_[i];
    std::copy(arguments[i].image.begin(), arguments[i].image.end(), at);
    if (begins_parameter(arguments, i)) {
      parameters_.push_back(i);
      pointers_.push_back(at);
    }
    if (needs_address(arguments[i])) ++unbound_;
  }
}

Result<Arguments> Arguments::encode(const Context& context, std::span<const Argument> arguments) {
  Arguments made(arguments);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!needs_address(arguments[i]) || arguments[i].address == 0) continue;
    TMA_JIT_CHECK(made.set_address(context, i, arguments[i].address));
  }
  return made;
}

Result<void> Arguments::set_address(const Context& context, std::size_t index, std::uint64_t address) {
  const Argument& argument = arguments_[index];
  if (!needs_address(argument)) return {};
  TMA_JIT_CHECK(check_address(argument, address));
  TMA_JIT_CHECK(check_reachable(context, argument.name, address));
  TMA_JIT_CHECK(write_address(context, argument, address, storage_.get() + offsets_[index], bound_[index]));
  if (!bound_[index]) --unbound_;
  bound_[index] = true;
  return {};
}

const Argument* Arguments::first_unbound() const {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (needs_address(arguments_[i]) && !bound_[i]) return &arguments_[i];
  }
  return nullptr;
}

}  // namespace tma_jit::driver
