// Operands of instructions.
#include "emulator/ptx/parser.h"

namespace tma_jit::emulator::ptx {
namespace {

constexpr u32 kDeepest = 4;  // maximum nesting depth: a vector in an address in a list

}  // namespace

Operand Parser::parse_operand() {
  if (++depth_ > kDeepest) throw_fault(FaultKind::syntax, "PTX line {}: operands nested too deep", lexer_.line());
  Operand first = parse_single_operand();
  if (accept('|')) {
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.parts.push_back(std::move(first));
    pair.parts.push_back(parse_single_operand());
    first = std::move(pair);
  }
  --depth_;
  return first;
}

Operand Parser::parse_single_operand() {
  if (accept('{')) return parse_vector();
  if (accept('[')) return parse_address();
  if (accept('(')) return parse_list();
  if (accept('-')) return parse_negative();
  if (accept('!')) {
    Operand operand = parse_name(expect(Token::Kind::word, "a predicate"));
    operand.negated = true;
    return operand;
  }
  const Token token = lexer_.peek();
  Operand operand;
  if (token.kind == Token::Kind::integer || token.kind == Token::Kind::real) {
    lexer_.next();
    operand.kind = token.kind == Token::Kind::integer ? Operand::Kind::integer : Operand::Kind::real;
    operand.bits = token.bits;
    operand.single = token.single;
    return operand;
  }
  return parse_name(expect(Token::Kind::word, "an operand"));
}

Operand Parser::parse_negative() {
  const Token token = lexer_.next();
  Operand operand;
  operand.bits = token.bits;
  if (token.kind == Token::Kind::integer) {
    operand.kind = Operand::Kind::integer;
    operand.bits = 0 - token.bits;
  } else if (token.kind == Token::Kind::real) {
    operand.kind = Operand::Kind::real;
    operand.single = token.single;
    operand.bits ^= token.single ? u64{1} << 31 : u64{1} << 63;
  } else {
    syntax_error("a number");
  }
  return operand;
}

void Parser::parse_offset(Operand& operand) {
  while (lexer_.peek().is('+') || lexer_.peek().is('-')) {
    bool negative = lexer_.next().is('-');
    if (!negative && accept('-')) negative = true;  // as in "+-16"
    const u64 value = expect_integer("an offset", ~u64{0});
    operand.offset += static_cast<s64>(negative ? 0 - value : value);
  }
}

Operand Parser::parse_name(const Token& token) {
  Operand operand;
  if (token.text == "_") return operand;
  if (const auto found = scopes_->find_register(token.text)) {
    operand.kind = Operand::Kind::reg;
    operand.index = *found;
    return operand;
  }
  operand.kind = Operand::Kind::symbol;
  operand.name = token.text;
  if (const auto variable = scopes_->find_variable(token.text)) operand.index = *variable + 1;
  parse_offset(operand);
  return operand;
}

Operand Parser::parse_vector() {
  Operand operand;
  operand.kind = Operand::Kind::vector;
  if (accept('}')) return operand;
  do operand.parts.push_back(parse_operand());
  while (accept(','));
  expect('}');
  return operand;
}

Operand Parser::parse_list() {
  Operand operand;
  operand.kind = Operand::Kind::list;
  if (accept(')')) return operand;
  do operand.parts.push_back(parse_operand());
  while (accept(','));
  expect(')');
  return operand;
}

Operand Parser::parse_address() {
  Operand operand;
  operand.kind = Operand::Kind::address;
  operand.parts.push_back(parse_operand());
  Operand& base = operand.parts.front();
  if (base.kind == Operand::Kind::reg) parse_offset(operand);
  if (base.kind == Operand::Kind::integer) parse_offset(operand);
  if (base.kind == Operand::Kind::symbol) std::swap(operand.offset, base.offset);
  while (accept(',')) operand.parts.push_back(parse_operand());
  expect(']');
  return operand;
}

}  // namespace tma_jit::emulator::ptx
