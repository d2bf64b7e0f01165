// Variables and parameters: alignment, type, extents, initial content.
#include <cstring>

#include "emulator/ptx/parser.h"

namespace tma_jit::emulator::ptx {
namespace {

// A limit against absurd declarations, beyond the size of any state space but the global one.
constexpr u64 kMostElements = u64{1} << 31;
constexpr u32 kDeepestValue = 16;

}  // namespace

// .ptr .global .align 16: properties of the memory that a parameter points to.
void Parser::parse_pointer_hints() {
  if (!accept(std::string_view(".ptr"))) return;
  for (const std::string_view space : {".global", ".shared", ".local", ".const"}) accept(space);
  if (accept(std::string_view(".align"))) expect_integer("an alignment", kMostElements);
}

void Parser::parse_dimensions(Variable& variable) {
  while (accept('[')) {
    if (accept(']')) {
      variable.elements = 0;  // given by the initialiser, or external
      continue;
    }
    variable.elements *= expect_integer("an extent", kMostElements);
    if (variable.elements > kMostElements)
      throw_fault(FaultKind::syntax, "PTX line {}: {} is too large", lexer_.line(), variable.name);
    expect(']');
  }
}

Variable Parser::parse_variable(Space space) {
  Variable variable;
  variable.space = space;
  variable.line = lexer_.line();
  u64 alignment = 0;
  if (accept(std::string_view(".align"))) alignment = expect_integer("an alignment", u64{1} << 20);
  while (lexer_.peek().is(".attribute")) {
    lexer_.next();
    expect('(');
    while (!accept(')')) {
      if (lexer_.peek().kind == Token::Kind::end) syntax_error(")");
      lexer_.next();
    }
  }
  u64 vector = 1;
  if (accept(std::string_view(".v2"))) vector = 2;
  if (accept(std::string_view(".v4"))) vector = 4;
  variable.type = expect_type();
  parse_pointer_hints();
  if (accept(std::string_view(".align"))) alignment = expect_integer("an alignment", u64{1} << 20);
  variable.name = expect(Token::Kind::word, "a name").text;
  variable.elements = vector;
  parse_dimensions(variable);
  variable.alignment = static_cast<u32>(alignment != 0 ? alignment : vector * static_cast<u64>(size_of(variable.type)));
  if ((variable.alignment & (variable.alignment - 1)) != 0)
    throw_fault(FaultKind::syntax, "PTX line {}: alignment {} is no power of two", variable.line, variable.alignment);
  return variable;
}

std::vector<Variable> Parser::parse_parameters() {
  std::vector<Variable> parameters;
  expect('(');
  if (accept(')')) return parameters;
  do {
    const Token directive = expect(Token::Kind::word, "a parameter");
    if (directive.text == ".reg") {
      throw_fault(FaultKind::unsupported, "PTX line {}: parameters in registers (.reg) of a function", directive.line);
    }
    if (directive.text != ".param") throw_fault(FaultKind::syntax, "PTX line {}: expected .param", directive.line);
    parameters.push_back(parse_variable(Space::param));
  } while (accept(','));
  expect(')');
  return parameters;
}

void Parser::append_value(Variable& variable, const Token& token, bool negative) {
  u64 bits = negative ? 0 - token.bits : token.bits;
  if (token.kind == Token::Kind::real && !token.single && size_of(variable.type) == 4) {
    double value = 0;
    std::memcpy(&value, &token.bits, sizeof value);
    const auto narrow = static_cast<float>(value);
    bits = 0;
    std::memcpy(&bits, &narrow, sizeof narrow);
  }
  const auto* bytes = reinterpret_cast<const u8*>(&bits);
  variable.content.insert(variable.content.end(), bytes, bytes + std::min(size_of(variable.type), 8));
}

void Parser::parse_initial_value(Variable& variable) {
  if (accept('{')) {
    if (++depth_ > kDeepestValue) throw_fault(FaultKind::syntax, "PTX line {}: values nested too deep", lexer_.line());
    do parse_initial_value(variable);
    while (accept(','));
    expect('}');
    --depth_;
    return;
  }
  const bool negative = accept('-');
  const Token token = lexer_.next();
  if (token.kind == Token::Kind::integer || token.kind == Token::Kind::real)
    return append_value(variable, token, negative);
  if (token.kind != Token::Kind::word) syntax_error("an initial value");
  std::string_view name = token.text;
  if (name == "generic" && accept('(')) {
    name = expect(Token::Kind::word, "a name").text;
    expect(')');
  }
  u64 addend = 0;
  if (accept('+')) addend = expect_integer("an offset", ~u64{0});
  variable.names.emplace_back(variable.content.size(), name);
  Token number;
  number.kind = Token::Kind::integer;
  number.bits = addend;
  append_value(variable, number, false);
}

void Parser::parse_initialiser(Variable& variable) {
  parse_initial_value(variable);
  const u64 bytes = variable.content.size();
  if (variable.elements == 0) variable.elements = bytes / static_cast<u64>(size_of(variable.type));
  if (bytes > variable.bytes()) {
    throw_fault(FaultKind::syntax, "PTX line {}: {} has more initial values than elements", variable.line,
                variable.name);
  }
}

}  // namespace tma_jit::emulator::ptx
