// A recursive descent parser of PTX. One object parses one module; parse() in module.h is the interface.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/fault.h"
#include "emulator/ptx/lexer.h"
#include "emulator/ptx/module.h"
#include "emulator/ptx/scope.h"

namespace tma_jit::emulator::ptx {

class Parser {
 public:
  explicit Parser(Module& module) : module_(module), lexer_(module.text) {}
  void parse_module();

 private:
  // Modules.
  void parse_directive(std::string_view directive);
  void parse_version();
  void parse_target();
  void parse_file();
  void parse_section();
  void parse_function(bool entry);
  void parse_module_variable(Space space, bool external);

  // Variables and parameters, in all contexts.
  Variable parse_variable(Space space);
  void parse_pointer_hints();
  void parse_dimensions(Variable& variable);
  void parse_initialiser(Variable& variable);
  void parse_initial_value(Variable& variable);
  void append_value(Variable& variable, const Token& token, bool negative);
  std::vector<Variable> parse_parameters();

  // Functions.
  void parse_performance(Function& function);
  void parse_extents(std::array<u32, 3>& extents);
  void parse_body();
  void parse_body_directive();
  void parse_branch_targets(std::string_view name);
  Prototype& new_prototype(std::string_view name);
  void parse_prototype(std::string_view name);
  void parse_call_targets(std::string_view name);
  void parse_registers();
  void parse_location();
  void parse_inlined_at(Location& location);
  void parse_statement();
  void parse_instruction(Instruction instruction);
  void parse_guard(Instruction& instruction);
  void split_opcode(Instruction& instruction, const Token& opcode);
  void resolve_labels();
  void resolve_labels(Operand& operand, const Instruction& instruction, u32 scope);

  // Operands.
  Operand parse_operand();
  Operand parse_single_operand();
  Operand parse_name(const Token& token);
  Operand parse_vector();
  Operand parse_address();
  Operand parse_list();
  Operand parse_negative();
  void parse_offset(Operand& operand);

  Token expect(Token::Kind kind, std::string_view what);
  Token expect(char punctuation);
  bool accept(char punctuation);
  bool accept(std::string_view word);
  u64 expect_integer(std::string_view what, u64 most);
  Type expect_type();
  [[noreturn]] void syntax_error(std::string_view wanted) const;

  Module& module_;
  Lexer lexer_;

  Function* function_ = nullptr;
  std::optional<Scopes> scopes_;
  std::vector<u32> scope_of_;  // of each instruction of the body
  u32 location_ = 0;
  std::map<std::string_view, std::vector<Operand>> branch_targets_;  // of the function, by label
  u32 depth_ = 0;                                                    // of nested operands
};

}  // namespace tma_jit::emulator::ptx
