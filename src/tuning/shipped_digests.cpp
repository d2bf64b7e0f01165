#include "tuning/shipped_digests.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/embedded_file.h"
#include "base/text.h"

namespace tma_jit {

// What tools/template-digests prints: lines of a file's name, a blank and its digest. Embedded by src/CMakeLists.txt.
extern const EmbeddedFile kTemplateDigests[];

namespace tuning {

namespace {

using Digest = std::pair<std::string_view, std::string_view>;

// By the file's name.
std::vector<Digest> table() {
  std::vector<Digest> digests;
  for (const std::string_view line : split(kTemplateDigests[0].text(), '\n')) {
    if (const std::size_t blank = line.find(' '); blank != line.npos) {
      digests.emplace_back(line.substr(0, blank), line.substr(blank + 1));
    }
  }
  std::ranges::sort(digests);
  return digests;
}

}  // namespace

std::optional<std::string_view> shipped_digest(std::string_view file) {
  static const auto digests = table();
  const auto found = std::ranges::lower_bound(digests, file, {}, &Digest::first);
  return found != digests.end() && found->first == file ? std::optional(found->second) : std::nullopt;
}

}  // namespace tuning
}  // namespace tma_jit
