// Prints the digests by which tuning records identify the templates that the library ships, a line each. The build runs
// it and embeds what it prints (tuning/shipped_digests.h).
#include <cstdio>

#include "source/headers.h"
#include "source/preamble.h"
#include "template/catalogue.h"
#include "tuning/problem_key.h"

using namespace tma_jit;

namespace {

Result<std::string> digest_of(const templates::Template& kernel, const templates::TemplateSet& set) {
  const auto headers = source::reachable_headers(
      {{source::kPreambleName, source::preamble_includes({})}, {kernel.file(), kernel.text()}},
      [&](std::string_view name) { return set.header(name); });
  if (!headers) return tl::make_unexpected(headers.error());
  return tuning::digest_of({kernel.file(), kernel.text(), kernel.used_text(), *headers});
}

}  // namespace

int main() {
  templates::TemplateSet set;
  for (const auto& kernel : set.all()) {
    if (!kernel) continue;  // whoever uses it gets the error
    if (const auto digest = digest_of(**kernel, set))
      std::printf("%s %s\n", (*kernel)->file().c_str(), digest->c_str());
  }
  return 0;
}
