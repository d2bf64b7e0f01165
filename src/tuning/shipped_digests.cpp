#include "tuning/shipped_digests.h"

#include <algorithm>

#include "base/embedded_file.h"

namespace tma_jit {

// What tools/template-digests prints: lines of a file's name, a blank and its digest. Embedded by src/CMakeLists.txt.
extern const EmbeddedFile kTemplateDigests[];

namespace tuning {

std::optional<std::string_view> shipped_digest(std::string_view file) {
  std::string_view rest(kTemplateDigests[0].text, kTemplateDigests[0].size);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.size() > file.size() && line.starts_with(file) && line[file.size()] == ' ') {
      return line.substr(file.size() + 1);
    }
  }
  return std::nullopt;
}

}  // namespace tuning
}  // namespace tma_jit
