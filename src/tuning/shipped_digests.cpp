#include "tuning/shipped_digests.h"

#include <algorithm>

#include "base/embedded_file.h"

namespace tma_jit {

// What tools/template-digests prints: lines of a file's name, a blank and its digest, by the names. Embedded by
// src/CMakeLists.txt.
extern const EmbeddedFile kTemplateDigests[];

namespace tuning {

// Halves the text, at the beginnings of lines, until the file's line is left.
std::optional<std::string_view> shipped_digest(std::string_view file) {
  std::string_view lines = kTemplateDigests[0].text();
  while (!lines.empty()) {
    const std::size_t before = lines.substr(0, lines.size() / 2).rfind('\n');
    const std::size_t begin = before == lines.npos ? 0 : before + 1;
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string_view line = lines.substr(begin, end - begin);
    const std::string_view name = line.substr(0, line.find(' '));
    if (name == file) return line.substr(std::min(name.size() + 1, line.size()));
    lines = file < name ? lines.substr(0, begin) : lines.substr(std::min(end + 1, lines.size()));
  }
  return std::nullopt;
}

}  // namespace tuning
}  // namespace tma_jit
