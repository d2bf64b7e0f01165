#include "compile/source_map.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "source/operand_uses.h"
#include "source/preamble.h"

namespace tma_jit::compile {
namespace {

constexpr std::string_view kHooks = "\nstruct alignas(8) Hooks {\n";
constexpr std::string_view kHookLine = "#line 1 \"hook ";

// The user's text of a hook starts after its #line and ends before the closing text that emission adds.
std::string_view hook_text(std::string_view rest) {
  const std::size_t end = std::min(rest.find("\n);}\n#line "), rest.find("\n}\n#line "));
  return rest.substr(0, end);
}

struct LocDirective {
  int file = 0;
  int line = 0;
  int column = 0;
};

// Parses the three numbers of ".loc 1 40 3, function_name ...".
LocDirective parse_loc(std::string_view text) {
  LocDirective location;
  for (int* number : {&location.file, &location.line, &location.column}) {
    text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *number);
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  }
  return location;
}

// Returns the .loc that applies to a line of the PTX: the nearest one above it in the same function.
LocDirective loc_above(const std::vector<std::string_view>& lines, int line) {
  for (int i = std::min(line, static_cast<int>(lines.size())) - 1; i >= 0; --i) {
    const std::string_view text = trimmed(lines[static_cast<std::size_t>(i)]);
    if (text.starts_with(".loc")) return parse_loc(text.substr(4));
    if (text.starts_with(".visible") || text.starts_with(".func")) break;
  }
  return {};
}

// Returns the path in `.file 2 "/cwd/device/tma.cuh"`.
std::string_view file_numbered(const std::vector<std::string_view>& lines, int number) {
  const std::string start = fmt::format(".file\t{} \"", number);
  for (const std::string_view line : lines) {
    const std::string_view text = trimmed(line);
    if (text.starts_with(start)) return text.substr(start.size(), text.rfind('"') - start.size());
  }
  return {};
}

// Returns the tensors among the members of Hooks: the names after "Operand<...> ".
std::vector<source::Operand> tensors_of_hooks(std::string_view text) {
  std::vector<source::Operand> operands;
  const std::size_t begin = text.find(kHooks);
  if (begin == std::string_view::npos) return operands;
  for (const std::string_view line : split(text.substr(begin + kHooks.size()), '\n')) {
    if (line.starts_with("__device__") || line.starts_with("#pragma")) break;
    if (!line.starts_with("Operand<") || !line.ends_with(';')) continue;
    const std::size_t name = line.rfind(' ') + 1;
    operands.push_back({std::string(line.substr(name, line.size() - name - 1)), DType::f32, 1, false});
  }
  return operands;
}

}  // namespace

SourceMap::SourceMap(const Source& source) {
  const std::string_view text = source.text;
  for (const Header& header : source.headers) texts_[header.name] = header.text;
  const std::vector<source::Operand> operands = tensors_of_hooks(text);
  for (std::size_t at = text.find(kHookLine); at != std::string_view::npos; at = text.find(kHookLine, at + 1)) {
    const std::size_t begin = text.find("\"\n", at);
    if (begin == std::string_view::npos) break;
    hooks_.push_back(source::with_brackets(hook_text(text.substr(begin + 2)), operands));
    const std::string name(text.substr(at + 9, begin - at - 9));
    // The line before an expression, whose number is that of the lines above it.
    if (const std::string_view before = text.substr(0, at); before.ends_with("\nreturn (\n"))
      openings_.emplace(static_cast<int>(std::ranges::count(before, '\n')) - 1, name);
    texts_.emplace(name, hooks_.back());
  }
  const std::string directive = source::line_directive(1, source.name);
  const std::size_t start = text.find(directive);
  texts_[source.name] = start == std::string_view::npos ? text : text.substr(start + directive.size());
}

void SourceMap::settle(Diagnostic& diagnostic) const {
  if (const auto opening = openings_.find(diagnostic.line);
      opening != openings_.end() && diagnostic.file == source::kPreambleName) {
    diagnostic.file = opening->second;
    diagnostic.line = diagnostic.column = 1;
    diagnostic.source = line_of(diagnostic.file, 1);
  }
  if (!diagnostic.file.starts_with("hook ")) return;
  const auto text = texts_.find(diagnostic.file);
  if (text == texts_.end()) return;
  const int lines = static_cast<int>(std::ranges::count(text->second, '\n')) + 1;
  if (diagnostic.line >= 1 && diagnostic.line <= lines) {
    const std::string_view own = line_of(diagnostic.file, diagnostic.line);
    if (own.size() == diagnostic.source.size()) diagnostic.source = own;
    return;
  }
  diagnostic.line = lines;
  diagnostic.source = line_of(diagnostic.file, lines);
  diagnostic.column = static_cast<int>(characters(diagnostic.source)) + 1;
}

void SourceMap::place(Diagnostic& diagnostic, std::string_view ptx) const {
  const std::vector<std::string_view> lines = split(ptx, '\n');
  if (diagnostic.line <= 0 || diagnostic.line > static_cast<int>(lines.size())) return;
  const LocDirective location = loc_above(lines, diagnostic.line);
  const std::string file = known_file(file_numbered(lines, location.file));
  diagnostic.notes.push_back(fmt::format("PTX: {}", trimmed(lines[static_cast<std::size_t>(diagnostic.line) - 1])));
  diagnostic.line = 0;
  if (location.line <= 0 || file.empty()) return;
  diagnostic.file = file;
  diagnostic.line = location.line;
  diagnostic.column = location.column;
  diagnostic.source = line_of(file, location.line);
}

std::string SourceMap::with_own_names(std::string ptx) const {
  constexpr std::string_view kDirective = "\n\t.file\t";
  for (std::size_t at = ptx.find(kDirective); at != std::string::npos; at = ptx.find(kDirective, at + 1)) {
    const std::size_t begin = ptx.find('"', at) + 1, end = ptx.find('"', begin);
    if (begin == 0 || end == std::string::npos) break;
    const std::string name = known_file(std::string_view(ptx).substr(begin, end - begin));
    if (!name.empty()) ptx.replace(begin, end - begin, name);
  }
  return ptx;
}

// Strips the working folder, which the compiler puts before a relative name.
std::string SourceMap::known_file(std::string_view path) const {
  for (const auto& [name, text] : texts_) {
    if (path == name || path.ends_with("/" + name)) return name;
  }
  return {};
}

std::string_view SourceMap::line_of(std::string_view file, int line) const {
  const auto text = texts_.find(file);
  if (text == texts_.end()) return {};
  const std::vector<std::string_view> lines = split(text->second, '\n');
  return line >= 1 && line <= static_cast<int>(lines.size()) ? lines[static_cast<std::size_t>(line) - 1] : "";
}

}  // namespace tma_jit::compile
