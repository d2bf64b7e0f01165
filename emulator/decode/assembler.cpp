#include "emulator/decode/assembler.h"

#include <bit>
#include <cstring>

#include "emulator/decode/frame.h"
#include "emulator/machine/special.h"

namespace tma_jit::emulator::decode {
namespace {

using ptx::Operand;
using ptx::Type;

u8 width_of(Type type) {
  return type == Type::pred ? u8{0} : static_cast<u8>(std::max(2, ptx::size_of(type)));
}

// Returns the bits of a constant operand. A 64-bit real is narrowed to f32 if that is the type.
u64 bits_of(const Operand& operand, Type type) {
  if (operand.kind != Operand::Kind::real || operand.single || ptx::size_of(type) != 4) return operand.bits;
  return std::bit_cast<u32>(static_cast<float>(std::bit_cast<double>(operand.bits)));
}

}  // namespace

bool Assembler::has(std::string_view modifier) const {
  for (const std::string_view given : match_.slots) {
    if (given == modifier) return true;
  }
  return false;
}

Type Assembler::type(std::size_t n) const {
  for (std::size_t i = 1; i < instruction_.modifiers.size(); ++i) {
    const auto named = ptx::type_named(instruction_.modifiers[i]);
    if (named && n-- == 0) return *named;
  }
  return Type::none;
}

ptx::Space Assembler::space() const {
  for (const std::string_view given : match_.slots) {
    if (given == "global") return ptx::Space::global;
    if (given.starts_with("shared")) return ptx::Space::shared;
    if (given == "local") return ptx::Space::local;
    if (given == "param" || given.starts_with("param::")) return ptx::Space::param;
    if (given == "const") return ptx::Space::constant;
  }
  return ptx::Space::generic;
}

int Assembler::vector() const {
  for (const std::string_view given : match_.slots) {
    if (given == "v2") return 2;
    if (given == "v4") return 4;
    if (given == "v8") return 8;
  }
  return 1;
}

bool Assembler::is_predicate(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg && frame_.function().registers[operand.index] == Type::pred;
}

void Assembler::check_width(const Operand& operand, const RegisterRef& reg, Type type) const {
  if (reg.width == width_of(type)) return;
  refuse("register {} of {} is {} bits wide, .{} has {}", operand.index,
         ptx::name_of(frame_.function().registers[operand.index]), 8 * reg.width, ptx::name_of(type),
         ptx::bits_of(type));
}

RegisterRef Assembler::destination(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::sink) return RegisterRef{0, RegisterRef::nothing, width_of(type), false};
  if (operand.kind != Operand::Kind::reg) refuse("a destination must be a register");
  const RegisterRef reg = frame_.reg(operand.index);
  check_width(operand, reg, type);
  return reg;
}

RegisterRef Assembler::wide_destination(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::sink) return RegisterRef{0, RegisterRef::nothing, width_of(type), false};
  if (operand.kind != Operand::Kind::reg) refuse("a destination must be a register");
  const RegisterRef reg = frame_.reg(operand.index);
  if (reg.width < width_of(type)) check_width(operand, reg, type);
  return reg;
}

RegisterRef Assembler::constant(const Operand& operand, Type type) {
  if (type == Type::b128) refuse("a 128-bit constant");
  return frame_.layout().constant(bits_of(operand, type), width_of(type));
}

RegisterRef Assembler::source(const Operand& operand, Type type) {
  const u8 width = width_of(type);
  switch (operand.kind) {
    case Operand::Kind::integer:
    case Operand::Kind::real: return constant(operand, type);
    case Operand::Kind::reg: {
      const RegisterRef reg = frame_.reg(operand.index);
      check_width(operand, reg, type);
      return reg;
    }
    case Operand::Kind::symbol: break;
    default: refuse("an operand that is no value");
  }
  if (const SpecialRegister special = special_register(operand.name);
      special.width != 0 || operand.name == "%is_explicit_cluster") {
    return frame_.layout().preset(Preset::Kind::special, operand.name, 0, width);
  }
  if (operand.name == "WARP_SZ") return frame_.layout().constant(kLanes, width);
  const auto symbol = frame_.symbol(operand);
  if (!symbol) refuse("no variable {} is known here", operand.name);
  return frame_.address_of(*symbol, operand.offset, width);
}

RegisterRef Assembler::wide_source(const Operand& operand, Type type) {
  if (operand.kind != Operand::Kind::reg) return source(operand, type);
  const RegisterRef reg = frame_.reg(operand.index);
  if (reg.width < width_of(type)) check_width(operand, reg, type);
  return reg;
}

RegisterRef Assembler::predicate(const Operand& operand) {
  if (operand.kind == Operand::Kind::integer) return frame_.layout().constant(operand.bits != 0 ? kAllLanes : 0, 0);
  RegisterRef reg = source(operand, Type::pred);
  reg.inverted = operand.negated;
  return reg;
}

RegisterRef Assembler::address(const Operand& operand, s64& offset) {
  if (operand.kind != Operand::Kind::address) refuse("an address was expected");
  const Operand& base = operand.parts.front();
  offset = operand.offset;
  if (base.kind == Operand::Kind::reg) {
    const RegisterRef reg = frame_.reg(base.index);
    if (reg.width != 4 && reg.width != 8) refuse("an address register is 32 or 64 bits wide");
    return reg;
  }
  if (base.kind == Operand::Kind::symbol && !frame_.symbol(base)) refuse("no variable {} is known here", base.name);
  return source(base, Type::b64);
}

}  // namespace tma_jit::emulator::decode
