#include "emulator/decode/frame.h"

#include <algorithm>
#include <cstring>

#include "emulator/decode/call_graph.h"
#include "emulator/fault.h"
#include "emulator/machine/special.h"

namespace tma_jit::emulator::decode {
namespace {

u64 rounded_up(u64 value, u64 unit) {
  return (value + unit - 1) / unit * unit;
}

// An 8-bit register is stored in 16 bits.
u8 width_of(ptx::Type type) {
  return type == ptx::Type::pred ? u8{0} : static_cast<u8>(std::max(2, ptx::size_of(type)));
}

constexpr u64 kMostShared = u64{1} << 24;
constexpr u64 kMostLocal = u64{512} << 10;  // per thread; CUDA C++ Programming Guide 13.0, "Compute Capabilities"
constexpr u32 kMostRegisterBytes = u32{64} << 20;  // per warp; half a million registers

}  // namespace

RegisterRef Layout::add_register(ptx::Type type) {
  if (program_.register_bytes > kMostRegisterBytes)
    throw_fault(FaultKind::limit, "more than {} bytes of registers a warp", kMostRegisterBytes);
  const u8 width = width_of(type);
  RegisterRef reg{program_.register_bytes, RegisterRef::registers, width, false};
  program_.register_bytes +=
      width == 0 ? kRegisterUnit : static_cast<u32>(rounded_up(u64{width} * kLanes, kRegisterUnit));
  if (callable_ != nullptr) callable_->registers.push_back(reg);
  return reg;
}

RegisterRef Layout::constant(u64 value, u8 width) {
  if (width < 8) value &= width == 0 ? ~u32{0} : (u64{1} << (8 * width)) - 1;
  const auto [found, fresh] = constants_.try_emplace({value, width});
  if (!fresh) return found->second;
  const auto offset = static_cast<u32>(rounded_up(program_.constants.size(), 64));
  const std::size_t bytes = width == 0 ? sizeof(Mask) : width;
  const int lanes = width == 0 ? 1 : kLanes;
  program_.constants.resize(offset + bytes * static_cast<std::size_t>(lanes));
  for (int i = 0; i < lanes; ++i) {
    std::memcpy(program_.constants.data() + offset + static_cast<std::size_t>(i) * bytes, &value,
                std::min<std::size_t>(bytes, 8));
  }
  found->second = RegisterRef{offset, RegisterRef::constants, width, false};
  return found->second;
}

RegisterRef Layout::preset(Preset::Kind kind, std::string_view special, u64 value, u8 width) {
  const auto [found, fresh] = presets_.try_emplace({kind, special, value, width});
  if (!fresh) return found->second;
  const ptx::Type type = width == 0   ? ptx::Type::pred
                         : width == 8 ? ptx::Type::b64
                         : width == 4 ? ptx::Type::b32
                                      : ptx::Type::b16;
  found->second = add_register(type);
  program_.presets.push_back({kind, found->second, special, value});
  return found->second;
}

u32 Layout::add_shared(const ptx::Variable& variable) {
  const u64 offset = rounded_up(std::max(program_.shared_bytes, kReservedShared), variable.alignment);
  if (offset + variable.bytes() > kMostShared)
    throw_fault(FaultKind::limit, "{} does not fit in shared memory", variable.name);
  program_.shared_bytes = static_cast<u32>(offset + variable.bytes());
  program_.shared_alignment = std::max(program_.shared_alignment, variable.alignment);
  return static_cast<u32>(offset);
}

u32 Layout::add_local(u64 bytes, u32 alignment) {
  u32& used = callable_ != nullptr ? callable_->local_bytes : program_.local_bytes;
  const u64 offset = rounded_up(callable_ != nullptr ? used : std::max(used, 16U), alignment);
  if (offset + bytes > kMostLocal) throw_fault(FaultKind::limit, "{} bytes of local memory a thread", offset + bytes);
  used = static_cast<u32>(offset + bytes);
  return static_cast<u32>(offset);
}

RegisterRef Layout::local(u64 offset, u8 width) {
  if (callable_ == nullptr) return constant(offset, width);
  const auto [found, fresh] = local_addresses_.try_emplace({offset, width});
  if (!fresh) return found->second;
  found->second = add_register(width == 8 ? ptx::Type::b64 : ptx::Type::b32);
  callable_->addresses.push_back({static_cast<u32>(offset), found->second});
  return found->second;
}

void Layout::within(Callable* callable) {
  callable_ = callable;
  local_addresses_.clear();
}

std::optional<u64> Layout::global(std::string_view name) const {
  const auto found = globals_.find(name);
  return found != globals_.end() ? std::optional(found->second) : std::nullopt;
}

Frame::Frame(Layout& layout, const ptx::Function& function) : layout_(layout), function_(function) {
  registers_.reserve(function.registers.size());
  for (const ptx::Type type : function.registers) registers_.push_back(layout.add_register(type));
  for (const ptx::Variable& variable : function.variables) {
    if (variable.space == ptx::Space::shared) {
      variables_.push_back({Symbol::Kind::shared, layout.add_shared(variable)});
    } else {
      variables_.push_back({Symbol::Kind::local, layout.add_local(variable.bytes(), variable.alignment)});
    }
  }
}

std::optional<Symbol> Frame::symbol(const ptx::Operand& operand) const {
  if (operand.kind != ptx::Operand::Kind::symbol) return std::nullopt;
  if (operand.index != 0) return variables_[operand.index - 1];
  const std::string_view name = operand.name;
  const auto found = symbols_.find(name);
  if (found != symbols_.end()) return found->second;
  const auto shared = layout_.program().shared_symbols.find(name);
  if (shared != layout_.program().shared_symbols.end()) return Symbol{Symbol::Kind::shared, shared->second};
  if (const auto address = layout_.global(name)) return Symbol{Symbol::Kind::global, *address};
  const u64 function = function_address(*layout_.program().module, name);
  if (function != 0) return Symbol{Symbol::Kind::global, function};
  return std::nullopt;
}

RegisterRef Frame::address_of(const Symbol& symbol, s64 offset, u8 width) {
  const u64 value = symbol.value + static_cast<u64>(offset);
  switch (symbol.kind) {
    case Symbol::Kind::global: return layout_.constant(value, width);
    case Symbol::Kind::shared: return layout_.preset(Preset::Kind::shared, {}, value, width);
    case Symbol::Kind::local: return layout_.local(value, width);
    case Symbol::Kind::parameter: break;
  }
  return layout_.preset(Preset::Kind::parameter, {}, value, width);
}

}  // namespace tma_jit::emulator::decode
