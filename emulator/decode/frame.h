// A function within the program that is being decoded: the locations of its registers, variables and labels. Each
// inlined call has a frame of its own.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/program/program.h"

namespace tma_jit::emulator::decode {

// Addresses of the global variables of a loaded module, by name.
using GlobalAddresses = std::map<std::string_view, u64, std::less<>>;

// Allocates the register file, constants and presets of a program.
class Layout {
 public:
  Layout(Program& program, const GlobalAddresses& globals) : program_(program), globals_(globals) {}

  RegisterRef add_register(ptx::Type type);
  RegisterRef constant(u64 value, u8 width);
  RegisterRef preset(Preset::Kind kind, std::string_view special, u64 value, u8 width);
  u32 add_shared(const ptx::Variable& variable);
  u32 add_local(u64 bytes, u32 alignment);
  // Returns the address of local memory at `offset`: a constant for the kernel's own, a register within an activation.
  RegisterRef local(u64 offset, u8 width);
  // Allocates registers and local memory in the activations of the function from now on; null: in the kernel's own.
  void within(Callable* callable);
  std::optional<u64> global(std::string_view name) const;
  Program& program() { return program_; }

 private:
  Program& program_;
  const GlobalAddresses& globals_;
  Callable* callable_ = nullptr;
  std::map<std::pair<u64, u8>, RegisterRef> local_addresses_;  // of callable_
  std::map<std::pair<u64, u8>, RegisterRef> constants_;
  std::map<std::tuple<Preset::Kind, std::string_view, u64, u8>, RegisterRef> presets_;
};

// The location of a symbol: a state space and an offset or address in it.
struct Symbol {
  enum class Kind : u8 { global, shared, local, parameter };
  Kind kind;
  u64 value;
};

class Frame {
 public:
  Frame(Layout& layout, const ptx::Function& function);

  const ptx::Function& function() const { return function_; }
  Layout& layout() { return layout_; }
  const RegisterRef& reg(u32 index) const { return registers_[index]; }
  void define(std::string_view name, Symbol symbol) { symbols_[name] = symbol; }
  std::optional<Symbol> symbol(const ptx::Operand& operand) const;
  // Returns the address of a symbol within its own state space.
  RegisterRef address_of(const Symbol& symbol, s64 offset, u8 width);

  std::vector<u32> ops_of;  // the index of the first op of each instruction

 private:
  Layout& layout_;
  const ptx::Function& function_;
  std::vector<RegisterRef> registers_;
  std::vector<Symbol> variables_;  // of the body of the function
  std::unordered_map<std::string_view, Symbol> symbols_;
};

}  // namespace tma_jit::emulator::decode
