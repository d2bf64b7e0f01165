// A function within the program that is being decoded: where its registers, variables and labels are. Each call of a
// function has a frame of its own.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/program/program.h"

namespace tma_jit::emulator::decode {

// Global variables of a loaded module: addresses by name.
using GlobalAddresses = std::map<std::string_view, u64, std::less<>>;

// The register file, constants and presets of a program as they grow.
class Layout {
 public:
  Layout(Program& program, const GlobalAddresses& globals) : program_(program), globals_(globals) {}

  Place add_register(ptx::Type type);
  Place constant(u64 value, u8 width);
  Place preset(Preset::Kind kind, std::string_view special, u64 value, u8 width);
  u32 add_shared(const ptx::Variable& variable);
  u32 add_local(u64 bytes, u32 alignment);
  // The address of local memory at `offset`: the same for all, or in an activation its own.
  Place local(u64 offset, u8 width);
  // From now on registers and local memory are those of the function's activations; null: the kernel's own.
  void within(Callable* callable);
  std::optional<u64> global(std::string_view name) const;
  Program& program() { return program_; }

 private:
  Program& program_;
  const GlobalAddresses& globals_;
  Callable* callable_ = nullptr;
  std::map<std::pair<u64, u8>, Place> local_places_;  // of callable_
  std::map<std::pair<u64, u8>, Place> constants_;
  std::map<std::tuple<Preset::Kind, std::string_view, u64, u8>, Place> presets_;
};

// Where a symbol is: a space and an offset or address in it.
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
  const Place& reg(u32 index) const { return registers_[index]; }
  void define(std::string_view name, Symbol symbol) { symbols_[name] = symbol; }
  std::optional<Symbol> symbol(const ptx::Operand& operand) const;
  // The address of a symbol as the space that the symbol is in counts.
  Place address_of(const Symbol& symbol, s64 offset, u8 width);

  std::vector<u32> ops_of;  // the first op of each instruction

 private:
  Layout& layout_;
  const ptx::Function& function_;
  std::vector<Place> registers_;
  std::vector<Symbol> variables_;  // of the function's body
  std::unordered_map<std::string_view, Symbol> symbols_;
};

}  // namespace tma_jit::emulator::decode
