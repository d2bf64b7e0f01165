#include "tuning/shipped_digests.h"

#include <map>

#include "base/embedded_file.h"
#include "base/text.h"

namespace tma_jit {

// What tools/template-digests prints: lines of a file's name, a blank and its digest. Embedded by src/CMakeLists.txt.
extern const EmbeddedFile kTemplateDigests[];

namespace tuning {

namespace {

// By the file's name.
std::map<std::string_view, std::string_view> table() {
  std::map<std::string_view, std::string_view> digests;
  for (const std::string_view line : split({kTemplateDigests[0].text, kTemplateDigests[0].size}, '\n')) {
    if (const std::size_t blank = line.find(' '); blank != line.npos) {
      digests.emplace(line.substr(0, blank), line.substr(blank + 1));
    }
  }
  return digests;
}

}  // namespace

std::optional<std::string_view> shipped_digest(std::string_view file) {
  static const auto digests = table();
  const auto found = digests.find(file);
  return found != digests.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace tuning
}  // namespace tma_jit
