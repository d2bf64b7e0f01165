#include "template/expression_parser.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <tma_jit/dtype.h>

#include "base/text.h"
#include "core/failure.h"

namespace tma_jit::templates {
namespace {

using Operator = Expression::Node::Operator;

// Limits that no hand-written expression reaches; they bound the recursion.
constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxNodes = 1000;

struct BinaryOperator {
  std::string_view symbol;
  Operator op;
  int precedence;
};
constexpr BinaryOperator kBinaryOperators[] = {
    {"||", Operator::logical_or, 1},    {"&&", Operator::logical_and, 2},
    {"|", Operator::bit_or, 3},         {"^", Operator::bit_xor, 4},
    {"&", Operator::bit_and, 5},        {"==", Operator::equal, 6},
    {"!=", Operator::not_equal, 6},     {"<", Operator::less, 7},
    {"<=", Operator::less_equal, 7},    {">", Operator::greater, 7},
    {">=", Operator::greater_equal, 7}, {"<<", Operator::shift_left, 8},
    {">>", Operator::shift_right, 8},   {"+", Operator::add, 9},
    {"-", Operator::subtract, 9},       {"*", Operator::multiply, 10},
    {"/", Operator::divide, 10},        {"%", Operator::remainder, 10},
};

struct Function {
  std::string_view name;
  Operator op;
};
constexpr Function kFunctions[] = {{"align_up", Operator::align_up},
                                   {"ceil_div", Operator::ceil_div},
                                   {"min", Operator::min},
                                   {"max", Operator::max},
                                   {"sum", Operator::sum}};

bool is_comparison(const BinaryOperator& found) {
  return found.precedence == 6 || found.precedence == 7;
}

// Returns what is wrong with an operator of which an operand is a comparison without parentheses; "" if nothing. C++
// takes a < b < c for (a < b) < c, and a & b == c for a & (b == c).
std::string misreading(const BinaryOperator& found) {
  if (is_comparison(found)) {
    return fmt::format(
        "\"{}\" would compare the 0 or 1 of another comparison; join comparisons by \"&&\", or put that one "
        "in parentheses",
        found.symbol);
  }
  if (found.precedence < 3 || found.precedence > 5) return {};
  return fmt::format(
      "\"{}\" would take the 0 or 1 of a comparison, which binds tighter; put what is meant in parentheses",
      found.symbol);
}

const BinaryOperator* binary_operator(const Token& token) {
  if (token.kind != Token::Kind::symbol) return nullptr;
  for (const BinaryOperator& candidate : kBinaryOperators) {
    if (candidate.symbol[0] == token.text[0] && candidate.symbol == token.text) return &candidate;
  }
  return nullptr;
}

Operator unary_operator(const Token& token) {
  if (token.is("-")) return Operator::negate;
  if (token.is("!")) return Operator::logical_not;
  if (token.is("~")) return Operator::bit_not;
  if (token.is("+")) return Operator::plus;
  return Operator::none;
}

struct Digits {
  std::string text;
  int base = 10;
};

Digits digits_of(std::string_view token) {
  Digits digits;
  const std::string_view prefix = token.substr(0, 2);
  if (prefix == "0x" || prefix == "0X") digits.base = 16;
  if (prefix == "0b" || prefix == "0B") digits.base = 2;
  if (digits.base != 10) token.remove_prefix(2);
  std::copy_if(token.begin(), token.end(), std::back_inserter(digits.text), [](char c) { return c != '\''; });
  return digits;
}

}  // namespace

std::string place_words(std::string_view symbol, std::string_view where, std::string_view named) {
  return fmt::format("\"{}\" {}{}{}", symbol, where, named.empty() ? "" : " ", named);
}

std::string unexpected_message(const Token& token, std::string_view wanted) {
  if (token.kind == Token::Kind::invalid) return std::string(token.problem);
  return fmt::format("expected {}, found {}", wanted, described(token));
}

tl::unexpected<Error> ExpressionParser::error(const Token& token, std::string_view message) const {
  return tl::make_unexpected(error_at(*expression_.source_, token.at, message));
}

tl::unexpected<Error> ExpressionParser::unexpected(const Token& token, std::string_view wanted) const {
  return error(token, unexpected_message(token, wanted));
}

Result<void> ExpressionParser::expect(std::string_view symbol, std::string_view where, std::string_view named) {
  if (!lexer_.peek().is(symbol)) return unexpected(lexer_.peek(), place_words(symbol, where, named));
  lexer_.take();
  return {};
}

Result<Token> ExpressionParser::expect_name(std::string_view what, std::string_view of) {
  if (lexer_.peek().kind != Token::Kind::name) return unexpected(lexer_.peek(), fmt::format("{}{}", what, of));
  return lexer_.take();
}

Result<Expression> ExpressionParser::parse(std::string_view what) {
  expression_.nodes_.clear();
  expression_.nodes_.reserve(8);
  expression_.references_.reserve(4);
  wanted_ = what;
  const std::size_t begin = lexer_.begin();
  expression_.at_ = lexer_.peek().at;
  TMA_JIT_CHECK(conditional());
  expression_.text_ = lexer_.line().substr(begin, lexer_.taken_end() - begin);
  expression_.at_.length = static_cast<int>(expression_.text_.size());
  return std::move(expression_);
}

ExpressionParser::Index ExpressionParser::add(const Node& node) {
  if (expression_.nodes_.size() >= kMaxNodes) {
    return tl::make_unexpected(
        error_at(*expression_.source_, node.at,
                 fmt::format("the expression has more than {} operands and operators", kMaxNodes)));
  }
  expression_.nodes_.push_back(node);
  return static_cast<int>(expression_.nodes_.size()) - 1;
}

ExpressionParser::Index ExpressionParser::add_reference(Reference reference) {
  auto& references = expression_.references_;
  const auto same = [&](const Reference& other) {
    return other.kind == reference.kind && other.name == reference.name && other.dimension == reference.dimension;
  };
  auto found = std::find_if(references.begin(), references.end(), same);
  Node node;
  node.kind = Node::Kind::reference;
  node.at = reference.at;
  node.value = found - references.begin();
  if (found == references.end()) references.push_back(std::move(reference));
  return add(node);
}

ExpressionParser::Index ExpressionParser::conditional() {
  TMA_JIT_ASSIGN(const int condition, binary(1));
  if (!lexer_.peek().is("?")) return condition;
  if (++depth_ > kMaxDepth) return error(lexer_.peek(), "the expression is nested too deeply");
  Node node;
  node.kind = Node::Kind::conditional;
  node.at = lexer_.take().at;
  TMA_JIT_ASSIGN(const int chosen, conditional());
  TMA_JIT_CHECK(expect(":", "of the conditional"));
  TMA_JIT_ASSIGN(const int otherwise, conditional());
  --depth_;
  node.operands = {condition, chosen, otherwise};
  return add(node);
}

ExpressionParser::Index ExpressionParser::binary(int lowest) {
  TMA_JIT_ASSIGN(int left, unary());
  while (const BinaryOperator* found = binary_operator(lexer_.peek())) {
    if (found->precedence < lowest) break;
    Node node;
    node.kind = Node::Kind::binary;
    node.op = found->op;
    const bool of_comparison = left == comparison_;
    const Token symbol = lexer_.take();
    node.at = symbol.at;
    TMA_JIT_ASSIGN(const int right, binary(found->precedence + 1));
    if (of_comparison || right == comparison_) {
      if (const std::string problem = misreading(*found); !problem.empty()) return error(symbol, problem);
    }
    node.operands = {left, right, Node::kNone};
    TMA_JIT_ASSIGN(left, add(node));
    if (is_comparison(*found)) comparison_ = left;
  }
  return left;
}

ExpressionParser::Index ExpressionParser::unary() {
  const Operator op = unary_operator(lexer_.peek());
  if (op == Operator::none) return primary();
  if (++depth_ > kMaxDepth) return error(lexer_.peek(), "the expression is nested too deeply");
  Node node;
  node.kind = Node::Kind::unary;
  node.op = op;
  node.at = lexer_.take().at;
  TMA_JIT_ASSIGN(const int operand, unary());
  --depth_;
  node.operands[0] = operand;
  return add(node);
}

ExpressionParser::Index ExpressionParser::primary() {
  const Token token = lexer_.peek();
  if (token.kind == Token::Kind::number) return literal(lexer_.take());
  if (token.kind == Token::Kind::name) return name(lexer_.take());
  if (!token.is("(")) return unexpected(token, expression_.nodes_.empty() ? wanted_ : "a value");
  if (++depth_ > kMaxDepth) return error(token, "the expression is nested too deeply");
  lexer_.take();
  TMA_JIT_ASSIGN(const int inner, conditional());
  if (!lexer_.peek().is(")")) {
    return unexpected(lexer_.peek(), fmt::format("\")\" to close the \"(\" in column {}", token.at.column));
  }
  lexer_.take();
  --depth_;
  comparison_ = Node::kNone;
  return inner;
}

ExpressionParser::Index ExpressionParser::literal(const Token& token) {
  const Digits digits = digits_of(token.text);
  Node node;
  node.at = token.at;
  const char* end = digits.text.data() + digits.text.size();
  const auto [stopped, problem] = std::from_chars(digits.text.data(), end, node.value, digits.base);
  if (problem == std::errc::result_out_of_range)
    return error(token, fmt::format("{} does not fit in 64 bits", token.text));
  if (digits.text.empty() || stopped != end) return error(token, fmt::format("{} is not an integer", token.text));
  if (digits.base == 10 && digits.text.size() > 1 && digits.text[0] == '0') {
    return error(token, fmt::format("{} would be octal in C++; write it without the leading 0", token.text));
  }
  return add(node);
}

ExpressionParser::Index ExpressionParser::name(const Token& token) {
  if (token.text == "true" || token.text == "false") {
    Node node;
    node.value = token.text == "true" ? 1 : 0;
    node.at = token.at;
    return add(node);
  }
  if (token.text == "device") return device();
  if (lexer_.peek().is("(") || token.text == "sizeof") return call(token);
  TMA_JIT_ASSIGN(std::string named, with_brackets(token));
  return add_reference({Reference::Kind::name, std::move(named), 0, token.at, -1});
}

Result<std::string> ExpressionParser::with_brackets(const Token& name) {
  if (!lexer_.peek().is("[")) return std::string(name.text);
  lexer_.take();
  if (!lexer_.peek().is("]")) return unexpected(lexer_.peek(), fmt::format("\"]\" after {}[", name.text));
  lexer_.take();
  return std::string(name.text) + "[]";
}

ExpressionParser::Index ExpressionParser::call(const Token& token) {
  if (++depth_ > kMaxDepth) return error(token, "the expression is nested too deeply");
  TMA_JIT_CHECK(expect("(", "after", token.text));
  Index result = 0;
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const Function& candidate) { return candidate.name == token.text; });
  if (token.text == "sizeof") {
    result = of_type(token, Reference::Kind::type_size);
  } else if (token.text == "integer") {
    result = of_type(token, Reference::Kind::integer);
  } else if (token.text == "dtype") {
    result = of_type(token, Reference::Kind::dtype);
  } else if (token.text == "stride") {
    result = stride();
  } else if (token.text == "alignment") {
    result = alignment();
  } else if (token.text == "given") {
    result = given();
  } else if (found != std::end(kFunctions)) {
    result = function(found->op, token);
  } else {
    const std::array<std::string, 11> known = {"align_up", "ceil_div", "min",    "max",       "sum",  "sizeof",
                                               "integer",  "dtype",    "stride", "alignment", "given"};
    return unknown_name(error(token, fmt::format("unknown function {}", token.text)), token.text, known);
  }
  if (!result) return result;
  TMA_JIT_CHECK(expect(")", "after the arguments of", token.text));
  --depth_;
  return result;
}

ExpressionParser::Index ExpressionParser::of_type(const Token& function, Reference::Kind kind) {
  TMA_JIT_ASSIGN(const Token token, expect_name("a type name in ", function.text));
  if (const std::optional<DType> type = dtype_named(token.text)) {
    Node node;
    node.value = value_of(kind, *type);
    node.at = token.at;
    return add(node);
  }
  return add_reference({kind, std::string(token.text), 0, token.at, -1});
}

ExpressionParser::Index ExpressionParser::device() {
  TMA_JIT_CHECK(expect(".", "after device"));
  TMA_JIT_ASSIGN(const Token token, expect_name("a name after device."));
  return add_reference({Reference::Kind::device, std::string(token.text), 0, token.at, -1});
}

ExpressionParser::Index ExpressionParser::stride() {
  TMA_JIT_ASSIGN(const Token tensor, expect_name("a tensor in stride"));
  TMA_JIT_ASSIGN(std::string named, with_brackets(tensor));
  TMA_JIT_CHECK(expect(",", "in stride(tensor, dimension)"));
  const Token dimension = lexer_.peek();
  int value = 0;
  const char* end = dimension.text.data() + dimension.text.size();
  const bool number =
      dimension.kind == Token::Kind::number && std::from_chars(dimension.text.data(), end, value).ptr == end;
  if (!number) return unexpected(dimension, "a dimension's number in stride, 0 for the outermost");
  lexer_.take();
  return add_reference({Reference::Kind::stride, std::move(named), value, tensor.at, -1});
}

ExpressionParser::Index ExpressionParser::alignment() {
  TMA_JIT_ASSIGN(const Token tensor, expect_name("a tensor in alignment"));
  TMA_JIT_ASSIGN(std::string named, with_brackets(tensor));
  return add_reference({Reference::Kind::alignment, std::move(named), 0, tensor.at, -1});
}

ExpressionParser::Index ExpressionParser::given() {
  TMA_JIT_ASSIGN(const Token hook, expect_name("a hook in given"));
  return add_reference({Reference::Kind::given, std::string(hook.text), 0, hook.at, -1});
}

bool ExpressionParser::list_follows() const {
  Lexer ahead = lexer_;
  return ahead.take().kind == Token::Kind::name && ahead.peek().is(")");
}

ExpressionParser::Index ExpressionParser::function(Operator op, const Token& token) {
  Node node;
  node.kind = Node::Kind::call;
  node.op = op;
  node.at = token.at;
  const bool exactly_two = op == Operator::align_up || op == Operator::ceil_div;
  if (!exactly_two && list_follows()) {
    const Token list = lexer_.take();
    TMA_JIT_ASSIGN(const int entries, add_reference({Reference::Kind::list, std::string(list.text), 0, list.at, -1}));
    node.operands[0] = entries;
    return add(node);
  }
  if (op == Operator::sum) return unexpected(lexer_.peek(), "the name of a list in sum");
  TMA_JIT_ASSIGN(int left, conditional());
  int count = 1;
  for (; lexer_.peek().is(","); ++count) {
    lexer_.take();
    TMA_JIT_ASSIGN(const int right, conditional());
    node.operands = {left, right, Node::kNone};
    TMA_JIT_ASSIGN(left, add(node));
  }
  if (count >= 2 && (!exactly_two || count == 2)) return left;
  return error(token, fmt::format("{} takes {} arguments, not {}", token.text, exactly_two ? "2" : "2 or more", count));
}

Result<Expression> parse_expression(std::string_view text, std::string_view file) {
  const auto source = std::make_shared<SourceText>(SourceText{std::string(file), std::string(text)});
  Lexer lexer(line_of(*source, 1), 1, 0);
  ExpressionParser parser(source, lexer);
  TMA_JIT_ASSIGN(Expression expression, parser.parse("an expression"));
  if (lexer.peek().kind != Token::Kind::end) {
    return tl::make_unexpected(error_at(*source, lexer.peek().at, unexpected_message(lexer.peek(), "an operator")));
  }
  return expression;
}

}  // namespace tma_jit::templates
