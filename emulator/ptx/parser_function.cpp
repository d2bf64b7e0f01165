// Bodies of functions: declarations, labels, line information, instructions.
#include "emulator/ptx/parser.h"

namespace tma_jit::emulator::ptx {
namespace {

constexpr u32 kMostRegisters = 1U << 20;

}  // namespace

void Parser::parse_body() {
  scopes_.emplace(*function_);
  scope_of_.clear();
  branch_targets_.clear();
  location_ = 0;
  expect('{');
  while (true) {
    if (accept('{')) {
      scopes_->open();
    } else if (lexer_.peek().is('}')) {
      lexer_.next();
      if (!scopes_->close()) break;
    } else if (accept(';')) {
      continue;
    } else if (lexer_.peek().kind == Token::Kind::end) {
      syntax_error("}");
    } else if (lexer_.peek().kind == Token::Kind::word && lexer_.peek().text[0] == '.') {
      parse_body_directive();
    } else {
      parse_statement();
    }
  }
  resolve_labels();
  scopes_.reset();
}

void Parser::parse_body_directive() {
  const Token directive = lexer_.next();
  const std::string_view name = directive.text;
  if (name == ".reg") return parse_registers();
  if (name == ".loc") return parse_location();
  if (name == ".file") return parse_file();
  if (name == ".pragma") {
    do expect(Token::Kind::string, "a string");
    while (accept(','));
    expect(';');
    return;
  }
  const Space space = name == ".local"    ? Space::local
                      : name == ".shared" ? Space::shared
                      : name == ".param"  ? Space::param
                                          : Space::generic;
  if (space == Space::generic) {
    throw_fault(FaultKind::unsupported, "PTX line {}: directive {} in a function's body", directive.line, name);
  }
  function_->variables.push_back(parse_variable(space));
  scopes_->declare_variable(function_->variables.back().name, static_cast<u32>(function_->variables.size() - 1));
  expect(';');
}

void Parser::parse_registers() {
  const Type type = expect_type();
  do {
    const Token name = expect(Token::Kind::word, "a register's name");
    u32 count = 1;
    if (accept('<')) {
      count = static_cast<u32>(expect_integer("a count of registers", kMostRegisters));
      expect('>');
      scopes_->declare_range(name.text, count, type);
    } else {
      scopes_->declare_register(name.text, type);
    }
    if (function_->registers.size() > kMostRegisters) {
      throw_fault(FaultKind::limit, "PTX line {}: {} has more than {} registers", name.line, function_->name,
                  kMostRegisters);
    }
  } while (accept(','));
  expect(';');
}

// .loc FILE LINE COLUMN [, function_name LABEL [+ OFFSET], inlined_at FILE LINE COLUMN]
void Parser::parse_location() {
  Location location;
  location.file = static_cast<u32>(expect_integer("a file's number", ~u32{0}));
  location.line = static_cast<u32>(expect_integer("a line", ~u32{0}));
  location.column = static_cast<u32>(expect_integer("a column", ~u32{0}));
  while (accept(',')) {
    const Token word = expect(Token::Kind::word, "function_name or inlined_at");
    if (word.text == "inlined_at") {
      parse_inlined_at(location);
    } else {
      expect(Token::Kind::word, "a label");
      if (accept('+')) expect(Token::Kind::integer, "an offset");
    }
  }
  module_.locations.push_back(location);
  location_ = static_cast<u32>(module_.locations.size());
}

// The call site may itself have been inlined: looks up the last .loc with the same file, line and column.
void Parser::parse_inlined_at(Location& location) {
  Location call;
  call.file = static_cast<u32>(expect_integer("a file's number", ~u32{0}));
  call.line = static_cast<u32>(expect_integer("a line", ~u32{0}));
  call.column = static_cast<u32>(expect_integer("a column", ~u32{0}));
  for (std::size_t i = module_.locations.size(); i-- > 0;) {
    const Location& seen = module_.locations[i];
    if (seen.file != call.file || seen.line != call.line || seen.column != call.column) continue;
    location.caller = static_cast<u32>(i + 1);
    return;
  }
  module_.locations.push_back(call);
  location.caller = static_cast<u32>(module_.locations.size());
}

void Parser::parse_statement() {
  Instruction instruction;
  instruction.line = lexer_.line();
  instruction.location = location_;
  if (accept('@')) {
    parse_guard(instruction);
    return parse_instruction(std::move(instruction));
  }
  const Token word = lexer_.peek();
  if (word.kind != Token::Kind::word) syntax_error("an instruction");
  lexer_.next();
  if (!accept(':')) {
    split_opcode(instruction, word);
    return parse_instruction(std::move(instruction));
  }
  if (accept(".branchtargets")) return parse_branch_targets(word.text);
  if (accept(".callprototype")) return parse_prototype(word.text);
  if (accept(".calltargets")) return parse_call_targets(word.text);
  if (!scopes_->declare_label(word.text, static_cast<u32>(function_->body.size())))
    throw_fault(FaultKind::syntax, "PTX line {}: label {} is there already", word.line, word.text);
}

// NAME: .branchtargets LABEL, ...;
void Parser::parse_branch_targets(std::string_view name) {
  std::vector<Operand>& labels = branch_targets_[name];
  if (!labels.empty()) throw_fault(FaultKind::syntax, "PTX line {}: {} is there already", lexer_.line(), name);
  do {
    Operand label;
    label.kind = Operand::Kind::symbol;
    label.name = expect(Token::Kind::word, "a label").text;
    labels.push_back(label);
  } while (accept(','));
  expect(';');
}

Prototype& Parser::new_prototype(std::string_view name) {
  const auto [found, fresh] = function_->prototypes.try_emplace(name);
  if (!fresh) throw_fault(FaultKind::syntax, "PTX line {}: {} is there already", lexer_.line(), name);
  return found->second;
}

// NAME: .callprototype [(results)] _ [(parameters)] [.noreturn] ...;
void Parser::parse_prototype(std::string_view name) {
  Prototype& prototype = new_prototype(name);
  if (lexer_.peek().is('(')) prototype.results = parse_parameters();
  if (!accept(std::string_view("_"))) syntax_error("_");
  if (lexer_.peek().is('(')) prototype.parameters = parse_parameters();
  while (lexer_.peek().kind == Token::Kind::word || lexer_.peek().kind == Token::Kind::integer) lexer_.next();
  expect(';');
}

// NAME: .calltargets FUNCTION, ...;
void Parser::parse_call_targets(std::string_view name) {
  Prototype& prototype = new_prototype(name);
  do prototype.targets.push_back(expect(Token::Kind::word, "a function").text);
  while (accept(','));
  expect(';');
}

void Parser::parse_guard(Instruction& instruction) {
  instruction.guard_negated = accept('!');
  const Token name = expect(Token::Kind::word, "a predicate");
  const auto found = scopes_->find_register(name.text);
  if (!found || function_->registers[*found] != Type::pred)
    throw_fault(FaultKind::syntax, "PTX line {}: {} is no predicate", name.line, name.text);
  instruction.guard = *found;
  split_opcode(instruction, expect(Token::Kind::word, "an instruction"));
}

void Parser::split_opcode(Instruction& instruction, const Token& opcode) {
  instruction.opcode = opcode.text;
  std::string_view rest = opcode.text;
  while (true) {
    const std::size_t dot = rest.find('.');
    instruction.modifiers.push_back(rest.substr(0, dot));
    if (dot == std::string_view::npos) return;
    rest.remove_prefix(dot + 1);
  }
}

void Parser::parse_instruction(Instruction instruction) {
  if (!lexer_.peek().is(';')) {
    do instruction.operands.push_back(parse_operand());
    while (accept(','));
  }
  expect(';');
  function_->body.push_back(std::move(instruction));
  scope_of_.push_back(scopes_->current());
}

// Labels may be used before they are declared. Names that no scope declares remain symbols, e.g. functions in calls.
void Parser::resolve_labels() {
  for (std::size_t i = 0; i < function_->body.size(); ++i) {
    Instruction& instruction = function_->body[i];
    for (Operand& operand : instruction.operands) resolve_labels(operand, instruction, scope_of_[i]);
  }
}

void Parser::resolve_labels(Operand& operand, const Instruction& instruction, u32 scope) {
  if (operand.kind != Operand::Kind::symbol) return;
  if (instruction.modifiers[0] == "brx") {
    const auto table = branch_targets_.find(operand.name);
    if (table == branch_targets_.end())
      throw_fault(FaultKind::syntax, "PTX line {}: no branch targets {}", instruction.line, operand.name);
    operand.kind = Operand::Kind::list;
    operand.parts = table->second;
    for (Operand& label : operand.parts) {
      const auto target = scopes_->find_label(label.name, scope);
      if (!target) throw_fault(FaultKind::syntax, "PTX line {}: no label {}", instruction.line, label.name);
      label.kind = Operand::Kind::label;
      label.index = *target;
    }
    return;
  }
  if (const auto found = scopes_->find_label(operand.name, scope)) {
    operand.kind = Operand::Kind::label;
    operand.index = *found;
  } else if (instruction.modifiers[0] == "bra") {
    throw_fault(FaultKind::syntax, "PTX line {}: no label {}", instruction.line, operand.name);
  }
}

}  // namespace tma_jit::emulator::ptx
