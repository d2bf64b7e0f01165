#include "compile/diagnostic.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace tma_jit::compile {
namespace {

using Severity = Diagnostic::Severity;
constexpr std::array<std::pair<std::string_view, Severity>, 6> kWords = {{{"catastrophic error", Severity::error},
                                                                          {"error", Severity::error},
                                                                          {"warning", Severity::warning},
                                                                          {"fatal", Severity::error},
                                                                          {"note", Severity::note},
                                                                          {"info", Severity::info}}};

int number_in(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Parses "error: text" or "warning #177-D: text".
std::optional<Diagnostic> parse_verdict(std::string_view text) {
  for (const auto& [word, severity] : kWords) {
    if (!text.starts_with(word)) continue;
    std::string_view rest = text.substr(word.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    if (rest.starts_with('#')) {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      diagnostic.number = rest.substr(1, colon - 1);
      rest.remove_prefix(colon);
    }
    if (!rest.starts_with(':')) return std::nullopt;
    diagnostic.message = trimmed(rest.substr(1));
    return diagnostic;
  }
  return std::nullopt;
}

// Parses "file(12): error: text". A file name may itself contain "(3): ", so every "): " is tried.
std::optional<Diagnostic> parse_positioned(std::string_view line) {
  for (std::size_t at = line.find("): "); at != std::string_view::npos; at = line.find("): ", at + 1)) {
    const std::size_t open = line.rfind('(', at);
    if (open == std::string_view::npos || open == 0) continue;
    const std::string_view digits = line.substr(open + 1, at - open - 1);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) continue;
    if (auto diagnostic = parse_verdict(line.substr(at + 3))) {
      diagnostic->file = line.substr(0, open);
      diagnostic->line = number_in(digits);
      return diagnostic;
    }
  }
  return std::nullopt;
}

// Removes "(C7510) " from the start of ptxas's text and returns the number; "" if there is none.
std::string take_number(std::string_view& text) {
  const std::size_t close = text.find(") ");
  if (!text.starts_with("(C") || close == std::string_view::npos) return {};
  const std::string_view number = text.substr(1, close - 1);
  text = trimmed(text.substr(close + 1));
  return std::string(number);
}

// Parses "ptxas info    : (C7510) text" and "ptxas application ptx input, line 34; warning : text".
std::optional<Diagnostic> parse_assembler(std::string_view line) {
  if (!line.starts_with("ptxas ")) return std::nullopt;
  const std::size_t semicolon = line.find("; ");
  const bool positioned = line.starts_with("ptxas application ptx input, line ") && semicolon != std::string_view::npos;
  auto diagnostic = parse_verdict(positioned ? line.substr(semicolon + 2) : trimmed(line.substr(6)));
  if (!diagnostic) return std::nullopt;
  diagnostic->assembler = true;
  if (positioned) diagnostic->line = number_in(line.substr(34));
  std::string_view text = diagnostic->message;
  diagnostic->number = take_number(text);
  diagnostic->summary = text.starts_with("Ptx assembly aborted");
  diagnostic->message = std::string(text);
  return diagnostic;
}

std::optional<Diagnostic> parse_header(std::string_view line) {
  if (auto assembler = parse_assembler(line)) return assembler;
  if (auto positioned = parse_positioned(line)) return positioned;
  constexpr std::string_view kEnd = "At end of source: ";
  constexpr std::string_view kDriver = "nvrtc: ";
  if (line.starts_with(kEnd)) line.remove_prefix(kEnd.size());
  if (line.starts_with(kDriver)) line.remove_prefix(kDriver.size());
  return parse_verdict(line);
}

bool is_caret(std::string_view line) {
  return trimmed(line) == "^";
}

// The excerpt is indented by two spaces. The caret's offset counts bytes; tabs of the source line are repeated in its
// line.
void take_excerpt(Diagnostic& diagnostic, std::string_view source, std::string_view caret) {
  const std::size_t offset = caret.find('^');
  diagnostic.source = source.substr(std::min<std::size_t>(2, source.size()));
  if (offset < 2) return;
  diagnostic.column = static_cast<int>(characters(std::string_view(diagnostic.source).substr(0, offset - 2))) + 1;
}

void take_lines(Diagnostic& diagnostic, const std::vector<std::string_view>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i + 1 < lines.size() && is_caret(lines[i + 1])) {
      take_excerpt(diagnostic, lines[i], lines[i + 1]);
      ++i;
    } else if (lines[i].starts_with("  ")) {
      diagnostic.notes.emplace_back(trimmed(lines[i]));
    }
  }
}

constexpr std::string_view word_for(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
    case Severity::info: return "info";
  }
  return "error";
}

}  // namespace

std::vector<Diagnostic> parse_log(std::string_view log) {
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string_view> lines;
  const auto close = [&] {
    if (!diagnostics.empty()) take_lines(diagnostics.back(), lines);
    lines.clear();
  };
  for (const std::string_view line : split(log, '\n')) {
    auto header = line.starts_with(' ') ? std::nullopt : parse_header(line);
    if (!header) {
      lines.push_back(line);
      continue;
    }
    close();
    diagnostics.push_back(std::move(*header));
  }
  close();
  return diagnostics;
}

std::size_t characters(std::string_view bytes) {
  return static_cast<std::size_t>(std::ranges::count_if(bytes, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string headline(const Diagnostic& diagnostic) {
  std::string position = diagnostic.file;
  if (!position.empty() && diagnostic.line > 0) position += fmt::format(":{}", diagnostic.line);
  if (!position.empty() && diagnostic.column > 0) position += fmt::format(":{}", diagnostic.column);
  if (!position.empty()) position += ": ";
  return fmt::format("{}{}{}: {}{}", position, word_for(diagnostic.severity),
                     diagnostic.number.empty() ? "" : " #" + diagnostic.number, diagnostic.assembler ? "ptxas: " : "",
                     diagnostic.message);
}

std::string body(const Diagnostic& diagnostic) {
  std::vector<std::string> lines = diagnostic.notes;
  if (!diagnostic.source.empty()) {
    lines.push_back(diagnostic.source);
    std::string caret;
    for (const char c : diagnostic.source) {
      if (static_cast<int>(characters(caret)) + 1 >= diagnostic.column) break;
      if ((c & 0xC0) != 0x80) caret.push_back(c == '\t' ? '\t' : ' ');
    }
    if (diagnostic.column > 0)
      lines.push_back(caret.append(static_cast<std::size_t>(diagnostic.column) - 1 - caret.size(), ' ') + "^");
  }
  return joined(lines, "\n");
}

}  // namespace tma_jit::compile
