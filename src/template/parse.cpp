// Parses the whole manifest: finds the `//!` lines, passes each to its directive, then checks them together.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "core/failure.h"
#include "template/bare.h"
#include "template/checks.h"
#include "template/directives.h"
#include "template/line_parser.h"
#include "template/template_folder.h"

namespace tma_jit::templates {
namespace {

constexpr std::string_view kMarker = "//!";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of UTF-8, as some editors write it

Result<void> parse_line(LineParser& line, Builder& builder) {
  if (line.at_end()) return {};
  TMA_JIT_ASSIGN(const Token word, line.name("a directive"));
  if (!is_read(builder, word.text)) return {};
  const Directive directive = find_directive(word.text);
  if (directive == nullptr) {
    return unknown_name(line.error(word.at, fmt::format("unknown directive {}", word.text)), word.text,
                        directive_names());
  }
  if (is_single(word.text)) {
    const auto [first, inserted] = builder.seen.emplace(word.text, word.at);
    if (!inserted) {
      return line.error(word.at, fmt::format("a second {}; the first is on {}", word.text,
                                             builder.line_text(first->second, word.at)));
    }
  }
  if (word.at.file != 0 && (word.text == "kernel" || word.text == "prefer" || word.text == "use")) {
    return line.error(word.at, fmt::format("{} stands in the template itself, not in a file that it uses", word.text));
  }
  line.begin_declaration();
  return directive(line, builder);
}

// `file` is that of the lines' positions.
Result<void> parse_lines(const SourcePointer& source, int file, Builder& builder) {
  std::string_view rest = source->text;
  if (rest.starts_with(kByteOrderMark)) {
    return tl::make_unexpected(error_at(
        *source, Position{1, 1, 1},
        "the file begins with a byte order mark, which is no CUDA and hides its first line; save it as UTF-8 without"));
  }
  bool any = false;
  for (int number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || !line.substr(begin).starts_with(kMarker)) continue;
    any = true;
    LineParser parser(source, line, number, begin + kMarker.size(), file);
    TMA_JIT_CHECK(parse_line(parser, builder));
  }
  if (any) return {};
  return tl::make_unexpected(
      error_at(*source, Position{1, 1, 1},
               file == 0 ? "there is no manifest: a template declares its kernel in lines that begin with //!"
                         : "there is nothing to use: declarations stand in lines that begin with //!"));
}

}  // namespace

// Parses the lines of the used file as if they stood here.
Result<void> parse_use(LineParser& line, Builder& builder) {
  const Token name = line.peek();
  if (name.kind != Token::Kind::text)
    return line.unexpected("the name of a header, like \"device/reference/NAME.cuh\"");
  line.take();
  if (!line.at_end()) return line.unexpected("the end of the line");
  const std::string file = unquoted(name.text);
  if (!is_plain_relative(file)) {
    return line.error(name.at,
                      fmt::format("\"{}\" leads out of the template folders; a header is named from there, like "
                                  "\"device/own.cuh\"",
                                  file));
  }
  std::vector<SourcePointer>& used = builder.result.used;
  if (builder.presets == Builder::Presets::alone) {
    const auto known = std::ranges::find(used, file, [](const SourcePointer& other) { return other->file; });
    return parse_lines(*known, static_cast<int>(known - used.begin()) + 1, builder);
  }
  if (std::ranges::any_of(used, [&](const SourcePointer& other) { return other->file == file; })) {
    return line.error(name.at, fmt::format("{} is used already", file));
  }
  if (!builder.header) return line.error(name.at, fmt::format("there is no header \"{}\"", file));
  Result<std::string> text = builder.header(file);
  if (!text) {
    Error missing = error_at(builder.result.source_of(name.at), name.at, text.error().message);
    missing.reason = text.error().reason;
    missing.suggestion = text.error().suggestion;
    return tl::make_unexpected(std::move(missing));
  }
  const auto source = std::make_shared<SourceText>(SourceText{file, std::move(*text)});
  used.push_back(source);
  return parse_lines(source, static_cast<int>(used.size()), builder);
}

namespace {

Result<void> parse_text(std::string file, std::string text, const HeaderLookup& header, Builder& builder) {
  builder.header = header;
  builder.result.source = std::make_shared<SourceText>(SourceText{std::move(file), std::move(text)});
  return parse_lines(builder.result.source, 0, builder);
}

}  // namespace

Result<Bare> Bare::parse(std::string file, std::string text, const HeaderLookup& header) {
  auto builder = std::make_shared<Builder>();
  builder->presets = Builder::Presets::later;
  TMA_JIT_CHECK(parse_text(std::move(file), std::move(text), header, *builder));
  builder->header = {};
  builder->result.embedded = true;
  if (!builder->lists.empty()) return failure(ErrorCode::unsupported, "{} has lists", builder->result.kernel);
  TMA_JIT_CHECK(check(*builder));
  return Bare(std::move(builder));
}

TemplatePointer Bare::kernel() const {
  return {builder_, &builder_->result};
}

Result<Template> Bare::with_presets() const {
  Builder builder = *builder_;
  builder.presets = Builder::Presets::alone;
  TMA_JIT_CHECK(parse_lines(builder.result.source, 0, builder));
  TMA_JIT_CHECK(check_presets(builder));
  return std::move(builder.result);
}

Result<Template> parse(std::string file, std::string text, const HeaderLookup& header) {
  Builder builder;
  TMA_JIT_CHECK(parse_text(std::move(file), std::move(text), header, builder));
  TMA_JIT_CHECK(check(builder));
  return std::move(builder.result);
}

Result<Template> parse_declarations(std::string file, std::string text, const HeaderLookup& header) {
  Builder builder;
  builder.declarations_only = true;
  TMA_JIT_CHECK(parse_text(std::move(file), std::move(text), header, builder));
  if (builder.lists.empty()) return std::move(builder.result);
  return failure(ErrorCode::unsupported, "{} has lists of declarations", builder.result.kernel);
}

}  // namespace tma_jit::templates
