#include "template/directives.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/failure.h"

namespace tma_jit::templates {
namespace {

struct Entry {
  std::string_view name;
  Directive parse;
  bool single;
};

constexpr Entry kDirectives[] = {
    {"kernel", parse_kernel, true},  {"arch", parse_arch, false},      {"prefer", parse_prefer, true},
    {"use", parse_use, false},       {"type", parse_type, false},      {"dim", parse_dim, false},
    {"param", parse_param, false},   {"let", parse_let, false},        {"require", parse_require, false},
    {"tensor", parse_tensor, false}, {"scalar", parse_scalar, false},  {"workspace", parse_workspace, false},
    {"hook", parse_hook, false},     {"cluster", parse_cluster, true}, {"launch", parse_launch, true},
    {"work", parse_work, true},      {"preset", parse_preset, false},  {"reference", parse_reference, true},
    {"inputs", parse_inputs, true},
};

const Entry* entry_of(std::string_view name) {
  const auto* found = std::find_if(std::begin(kDirectives), std::end(kDirectives),
                                   [&](const Entry& entry) { return entry.name == name; });
  return found != std::end(kDirectives) ? found : nullptr;
}

// Returns whether the word is sm_<digits> with an optional a or f.
bool is_arch(std::string_view word) {
  if (!word.starts_with("sm_")) return false;
  word.remove_prefix(3);
  if (word.ends_with('a') || word.ends_with('f')) word.remove_suffix(1);
  return word.size() >= 2 && word.size() <= 3 && word.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Directive find_directive(std::string_view name) {
  const Entry* entry = entry_of(name);
  return entry != nullptr ? entry->parse : nullptr;
}

std::vector<std::string> directive_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kDirectives) names.emplace_back(entry.name);
  return names;
}

bool is_declaration(std::string_view directive) {
  return directive == "kernel" || directive == "use" || directive == "type" || directive == "dim" ||
         directive == "hook";
}

bool is_read(const Builder& builder, std::string_view directive) {
  if (builder.declarations_only) return is_declaration(directive);
  switch (builder.presets) {
    case Builder::Presets::with_the_rest: return true;
    case Builder::Presets::later: return directive != "preset";
    case Builder::Presets::alone: return directive == "preset" || directive == "use";
  }
  return true;
}

bool is_single(std::string_view directive) {
  const Entry* entry = entry_of(directive);
  return entry != nullptr && entry->single;
}

std::string Builder::line_text(const Position& at, const Position& from) const {
  if (at.file == from.file) return fmt::format("line {}", at.line);
  return fmt::format("line {} of {}", at.line, result.source_of(at).file);
}

Result<Token> declare(LineParser& line, Builder& builder, NameKind kind) {
  const bool named = line.peek().kind == Token::Kind::name;
  TMA_JIT_ASSIGN(const Token token, line.name(named ? "" : fmt::format("the name of {}", described(kind))));
  if (std::string reason = reserved_reason(token.text); !reason.empty()) return line.error(token.at, reason);
  const auto [entry, inserted] = builder.names.emplace(token.text, NamedThing{kind, token.at});
  if (!inserted) {
    return line.error(token.at,
                      fmt::format("{} is already declared, as {} on {}", token.text, described(entry->second.kind),
                                  builder.line_text(entry->second.at, token.at)));
  }
  const bool ordered =
      kind == NameKind::type || kind == NameKind::dim || kind == NameKind::param || kind == NameKind::let;
  if (ordered) builder.result.order.emplace_back(token.text);
  return token;
}

Result<Token> declare_list(LineParser& line, Builder& builder, NameKind kind) {
  TMA_JIT_ASSIGN(const Token name, declare(line, builder, kind));
  if (!line.accept("[")) return name;
  ListDeclaration list{name, {}, {}};
  TMA_JIT_ASSIGN(list.param, line.name("the param that says how many entries the list has"));
  TMA_JIT_CHECK(line.expect("]", "after the list's param"));
  if (line.accept("{")) {
    do {
      TMA_JIT_ASSIGN(const Token entry, line.name("the name of an entry"));
      list.entries.push_back(entry);
    } while (line.accept(","));
    TMA_JIT_CHECK(line.expect("}", "after the names of the entries"));
  }
  builder.lists.emplace(name.text, std::move(list));
  return name;
}

Result<void> parse_kernel(LineParser& line, Builder& builder) {
  TMA_JIT_ASSIGN(const Token name, declare(line, builder, NameKind::kernel));
  Declaration declaration;
  TMA_JIT_CHECK(line.finish(declaration, "a doc text or the end of the line"));
  builder.result.kernel = name.text;
  builder.result.doc = declaration.doc;
  return {};
}

Result<void> parse_arch(LineParser& line, Builder& builder) {
  auto& archs = builder.result.archs;
  do {
    TMA_JIT_ASSIGN(const Token token, line.name("an architecture like sm_90a"));
    if (!is_arch(token.text)) {
      return line.error(token.at, fmt::format("{} is not an architecture; they are written like sm_90a", token.text));
    }
    if (std::find(archs.begin(), archs.end(), token.text) != archs.end()) {
      return line.error(token.at, fmt::format("{} is listed twice", token.text));
    }
    archs.emplace_back(token.text);
  } while (line.accept(",") || line.peek().kind == Token::Kind::name);
  Declaration ignored;
  return line.finish(ignored, "an architecture or the end of the line");
}

Result<void> parse_prefer(LineParser& line, Builder& builder) {
  TMA_JIT_ASSIGN(builder.result.preference, line.constant("the file's preference", "a file's preference"));
  Declaration ignored;
  return line.finish(ignored, "an operator, a doc text or the end of the line");
}

Result<void> parse_let(LineParser& line, Builder& builder) {
  Let let;
  TMA_JIT_ASSIGN(const Token name, declare_list(line, builder, NameKind::let));
  let.name = name.text;
  let.at = name.at;
  TMA_JIT_CHECK(line.expect("=", "after", name.text));
  TMA_JIT_ASSIGN(let.value, line.expression("the let's value"));
  TMA_JIT_CHECK(line.finish(let, "an operator, a doc text or the end of the line"));
  builder.result.lets.push_back(std::move(let));
  return {};
}

Result<void> parse_require(LineParser& line, Builder& builder) {
  Rule rule;
  TMA_JIT_ASSIGN(rule.condition, line.expression("the condition of the rule"));
  rule.at = rule.condition.at();
  TMA_JIT_CHECK(line.finish(rule, "an operator, a doc text or the end of the line"));
  builder.result.rules.push_back(std::move(rule));
  return {};
}

}  // namespace tma_jit::templates
