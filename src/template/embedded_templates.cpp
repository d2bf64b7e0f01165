#include "template/embedded_templates.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "core/failure.h"
#include "template/lexer.h"

namespace tma_jit {

// The files in templates/, embedded by src/CMakeLists.txt.
extern const EmbeddedArchive kEmbeddedTemplates;

}  // namespace tma_jit

namespace tma_jit::templates {
namespace {

constexpr std::string_view kFolders[] = {"kernels/", "probes/"};

// Returns what follows the first directive of that name.
std::optional<Lexer> words_after(std::string_view directive, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (!line.starts_with("//!")) continue;
    Lexer words(line, 1, 3);
    if (words.take().is_word(directive)) return words;
  }
  return std::nullopt;
}

}  // namespace

std::span<const EmbeddedFile> embedded_templates() {
  static const std::vector<EmbeddedFile> files = kEmbeddedTemplates.files();
  return files;
}

bool is_template(const EmbeddedFile& file) {
  return std::ranges::any_of(kFolders,
                             [&](std::string_view folder) { return std::string_view(file.name).starts_with(folder); });
}

bool is_named(const EmbeddedFile& file, std::string_view stem) {
  std::string_view name = file.name;
  if (!is_template(file)) return false;
  name.remove_prefix(name.find('/') + 1);
  return name.starts_with(stem) && name.substr(stem.size()) == ".cu";
}

std::string template_name(const EmbeddedFile& file) {
  return std::string("templates/").append(file.name);
}

std::string_view declared_kernel(std::string_view text) {
  const std::optional<Lexer> words = words_after("kernel", text);
  return words && words->peek().kind == Token::Kind::name ? words->peek().text : std::string_view();
}

std::vector<std::string> declared_archs(std::string_view text) {
  std::vector<std::string> archs;
  for (std::optional<Lexer> words = words_after("arch", text); words;) {
    const Token word = words->take();
    if (word.kind == Token::Kind::name) archs.emplace_back(word.text);
    if (word.kind != Token::Kind::name && !word.is(",")) break;
  }
  return archs;
}

std::string_view declared_kernel(const EmbeddedFile& file) {
  return file.subject != nullptr ? std::string_view(file.subject) : declared_kernel(file.text());
}

Result<std::string> header_in(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (name == file.name && !is_template(file)) return std::string(file.text());
  }
  std::vector<std::string> known;
  for (const EmbeddedFile& file : files) {
    if (!is_template(file)) known.emplace_back(file.name);
  }
  Error error{ErrorCode::not_found,
              fmt::format("no header is named \"{}\"", name),
              {},
              ErrorReason::unknown_name,
              nearest_name(name, known)};
  error.detail = fmt::format("tried the embedded headers: {}", joined(known));
  return tl::make_unexpected(std::move(error));
}

}  // namespace tma_jit::templates
