// Directives of a module, and helpers of all parts of the parser.
#include <algorithm>
#include <array>

#include "emulator/ptx/parser.h"

namespace tma_jit::emulator::ptx {
namespace {

std::string_view shown(const Token& token) {
  return token.kind == Token::Kind::end ? "the end of the text" : token.text;
}

}  // namespace

void Parser::syntax_error(std::string_view wanted) const {
  throw_fault(FaultKind::syntax, "PTX line {}: expected {}, found \"{}\"", lexer_.line(), wanted, shown(lexer_.peek()));
}

Token Parser::expect(Token::Kind kind, std::string_view what) {
  if (lexer_.peek().kind != kind) syntax_error(what);
  return lexer_.next();
}

Token Parser::expect(char punctuation) {
  if (!lexer_.peek().is(punctuation)) syntax_error(std::string(1, punctuation));
  return lexer_.next();
}

bool Parser::accept(char punctuation) {
  if (!lexer_.peek().is(punctuation)) return false;
  lexer_.next();
  return true;
}

bool Parser::accept(std::string_view word) {
  if (!lexer_.peek().is(word)) return false;
  lexer_.next();
  return true;
}

u64 Parser::expect_integer(std::string_view what, u64 most) {
  const Token token = expect(Token::Kind::integer, what);
  if (token.bits > most)
    throw_fault(FaultKind::syntax, "PTX line {}: {} is {}, at most {}", token.line, what, token.bits, most);
  return token.bits;
}

Type Parser::expect_type() {
  const Token& token = lexer_.peek();
  if (token.kind != Token::Kind::word || token.text[0] != '.') syntax_error("a type");
  const auto type = type_named(token.text.substr(1));
  if (!type) syntax_error("a type");
  lexer_.next();
  return *type;
}

void Parser::parse_module() {
  while (lexer_.peek().kind != Token::Kind::end) {
    const Token token = expect(Token::Kind::word, "a directive");
    if (token.text[0] != '.')
      throw_fault(FaultKind::syntax, "PTX line {}: \"{}\" is no directive", token.line, token.text);
    parse_directive(token.text);
  }
  if (module_.target.empty()) throw_fault(FaultKind::syntax, "the text names no .target: it is not PTX");
}

void Parser::parse_directive(std::string_view directive) {
  if (directive == ".version") return parse_version();
  if (directive == ".target") return parse_target();
  if (directive == ".address_size") {
    if (expect_integer("the address size", 64) != 64) syntax_error("an address size of 64");
    return;
  }
  if (directive == ".file") return parse_file();
  if (directive == ".section") return parse_section();
  if (directive == ".loc" || directive == ".alias" || directive == ".pragma") return lexer_.skip_line();
  bool external = false;
  while (directive == ".visible" || directive == ".weak" || directive == ".extern" || directive == ".common") {
    external = external || directive == ".extern";
    directive = expect(Token::Kind::word, "a declaration").text;
  }
  if (directive == ".entry") return parse_function(true);
  if (directive == ".func") return parse_function(false);
  if (directive == ".global") return parse_module_variable(Space::global, external);
  if (directive == ".const") return parse_module_variable(Space::constant, external);
  if (directive == ".shared") return parse_module_variable(Space::shared, external);
  throw_fault(FaultKind::syntax, "PTX line {}: unknown directive {}", lexer_.line(), directive);
}

void Parser::parse_version() {
  const Token token = expect(Token::Kind::real, "a version such as 9.0");
  if (module_.version != 0) throw_fault(FaultKind::syntax, "PTX line {}: a second .version", token.line);
  const std::string_view text = token.text;
  const std::size_t dot = text.find('.');
  if (dot == 0 || dot > 2 || text.size() != dot + 2 || text[dot + 1] < '0' || text[dot + 1] > '9')
    throw_fault(FaultKind::syntax, "PTX line {}: version {}; such as 9.0", token.line, text);
  for (const char c : text.substr(0, dot)) module_.version = 10 * module_.version + (c - '0');
  module_.version = 10 * module_.version + (text[dot + 1] - '0');
}

void Parser::parse_target() {
  module_.target = expect(Token::Kind::word, "a target").text;
  while (accept(',')) expect(Token::Kind::word, "a target option");
}

void Parser::parse_file() {
  const u64 index = expect_integer("a file's number", ~u32{0});
  module_.files[static_cast<u32>(index)] = expect(Token::Kind::string, "a file's name").text;
  while (accept(',')) expect(Token::Kind::integer, "a number");
}

// Skips debug information.
void Parser::parse_section() {
  expect(Token::Kind::word, "a section's name");
  expect('{');
  while (!lexer_.peek().is('}')) {
    if (lexer_.peek().kind == Token::Kind::end) syntax_error("}");
    lexer_.next();
  }
  expect('}');
}

void Parser::parse_module_variable(Space space, bool external) {
  Variable variable = parse_variable(space);
  variable.external = external;
  if (accept('=')) parse_initialiser(variable);
  expect(';');
  module_.variables.push_back(std::move(variable));
}

void Parser::parse_extents(std::array<u32, 3>& extents) {
  extents = {1, 1, 1};
  std::size_t i = 0;
  do {
    const u64 extent = expect_integer("an extent", ~u32{0});
    if (i == extents.size()) syntax_error("at most three extents");
    extents[i++] = static_cast<u32>(extent);
  } while (accept(','));
}

void Parser::parse_performance(Function& function) {
  while (lexer_.peek().kind == Token::Kind::word) {
    const std::string_view directive = lexer_.next().text;
    std::array<u32, 3> ignored{};
    if (directive == ".maxntid") {
      parse_extents(function.max_threads);
    } else if (directive == ".reqntid") {
      parse_extents(function.required_threads);
    } else if (directive == ".reqnctapercluster") {
      parse_extents(function.cluster);
    } else if (directive == ".explicitcluster") {
      function.explicit_cluster = true;
    } else if (directive == ".minnctapersm") {
      function.min_blocks = static_cast<u32>(expect_integer("a count", 64));
    } else if (directive == ".maxnreg") {
      function.max_registers = static_cast<u32>(expect_integer("a count", 256));
    } else if (directive == ".maxclusterrank") {
      parse_extents(ignored);
    } else if (directive == ".pragma") {
      expect(Token::Kind::string, "a string");
      accept(';');
    } else if (directive != ".noreturn" && directive != ".blocksareclusters") {
      throw_fault(FaultKind::syntax, "PTX line {}: unknown directive {} of a function", lexer_.line(), directive);
    }
  }
}

void Parser::parse_function(bool entry) {
  auto function = std::make_unique<Function>();
  function->entry = entry;
  function->line = lexer_.line();
  if (lexer_.peek().is('(')) function->results = parse_parameters();
  function->name = expect(Token::Kind::word, "a function's name").text;
  if (lexer_.peek().is('(')) function->parameters = parse_parameters();
  parse_performance(*function);
  if (!accept(';')) {
    function->defined = true;
    function_ = function.get();
    parse_body();
    function_ = nullptr;
  }
  module_.functions.push_back(std::move(function));
}

const Function* Module::function(std::string_view name) const {
  const Function* found = nullptr;  // a definition, in preference to an earlier declaration
  for (const auto& candidate : functions) {
    if (candidate->name == name && (found == nullptr || candidate->defined)) found = candidate.get();
  }
  return found;
}

std::string Module::location_of(const Instruction& instruction) const {
  std::string out;
  u32 index = instruction.location;
  for (int depth = 0; index != 0 && depth < 8; ++depth) {
    const Location& location = locations[index - 1];
    const auto file = files.find(location.file);
    const std::string_view name = file != files.end() ? file->second : std::string_view("?");
    out += fmt::format("{}{}:{}", depth == 0 ? "" : ", inlined at ", name, location.line);
    index = location.caller;
  }
  return out;
}

std::unique_ptr<const Module> parse(std::string text) {
  auto module = std::make_unique<Module>();
  module->text = std::move(text);
  Parser(*module).parse_module();
  return module;
}

}  // namespace tma_jit::emulator::ptx
