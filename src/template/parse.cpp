// Parses the whole manifest: finds the `//!` lines, passes each to its directive, then checks them together.
#include <fmt/format.h>

#include "base/text.h"
#include "core/failure.h"
#include "template/checks.h"
#include "template/directives.h"
#include "template/line_parser.h"

namespace tma_jit::templates {
namespace {

constexpr std::string_view kMarker = "//!";

Result<void> parse_line(LineParser& line, Builder& builder) {
  if (line.at_end()) return {};
  TMA_JIT_ASSIGN(const Token word, line.name("a directive"));
  const Directive directive = find_directive(word.text);
  if (directive == nullptr) {
    return unknown_name(line.error(word.at, fmt::format("unknown directive {}", word.text)), word.text,
                        directive_names());
  }
  const auto [first, inserted] = builder.seen.emplace(word.text, word.at);
  if (!inserted && is_single(word.text)) {
    return line.error(word.at, fmt::format("a second {}; the first is on line {}", word.text, first->second.line));
  }
  line.begin_declaration();
  return directive(line, builder);
}

Result<void> parse_lines(Builder& builder) {
  const SourcePointer& source = builder.result.source;
  std::string_view rest = source->text;
  bool any = false;
  for (int number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || !line.substr(begin).starts_with(kMarker)) continue;
    any = true;
    LineParser parser(source, line, number, begin + kMarker.size());
    TMA_JIT_CHECK(parse_line(parser, builder));
  }
  if (any) return {};
  return tl::make_unexpected(error_at(
      *source, Position{1, 1, 1}, "there is no manifest: a template declares its kernel in lines that begin with //!"));
}

}  // namespace

Result<Template> parse(std::string file, std::string text) {
  Builder builder;
  builder.result.source = std::make_shared<SourceText>(SourceText{std::move(file), std::move(text)});
  TMA_JIT_CHECK(parse_lines(builder));
  TMA_JIT_CHECK(check(builder));
  return std::move(builder.result);
}

}  // namespace tma_jit::templates
