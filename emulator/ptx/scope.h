// The nested scopes of a function's body. Registers are numbered throughout the function. A brace opens a scope in
// which names of registers and labels may be redeclared, as in inline assembly.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/ptx/module.h"

namespace tma_jit::emulator::ptx {

class Scopes {
 public:
  explicit Scopes(Function& function) : function_(function) { scopes_.push_back({kNone, {}, {}, {}, {}}); }

  void open();
  // Returns false if only the function's own scope is open.
  bool close();
  u32 current() const { return current_; }

  void declare_register(std::string_view name, Type type);
  void declare_range(std::string_view stem, u32 count, Type type);  // %r<8>
  std::optional<u32> find_register(std::string_view name) const;

  void declare_variable(std::string_view name, u32 number);
  std::optional<u32> find_variable(std::string_view name) const;

  // Returns false if the scope already has the label.
  bool declare_label(std::string_view name, u32 instruction);
  std::optional<u32> find_label(std::string_view name, u32 scope) const;

 private:
  static constexpr u32 kNone = ~u32{0};
  struct Range {
    u32 first, count;
  };
  struct Scope {
    u32 parent;
    std::unordered_map<std::string_view, u32> registers;
    std::unordered_map<std::string_view, Range> ranges;
    std::unordered_map<std::string_view, u32> labels;
    std::unordered_map<std::string_view, u32> variables;
  };

  Function& function_;
  std::vector<Scope> scopes_;  // including closed scopes, because labels are resolved at the end of the body
  u32 current_ = 0;
};

}  // namespace tma_jit::emulator::ptx
