#include <tma_jit/warm_list.h>

#include <filesystem>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "base/file.h"
#include "base/text.h"
#include "template/search.h"

namespace tma_jit {

TEST_CASE("the shipped list names every kernel of the tree, and no other") {
  std::set<std::string> listed, known;
  const std::string text = read_file(TMA_JIT_SOURCE_DIR "/cache/warm.jsonl").value();
  for (const std::string_view words : split(text, '\n')) {
    if (words.empty() || words.front() == '#') continue;
    const auto line = parse_warm_line(words);
    REQUIRE_MESSAGE(line, line.error().text());
    CHECK(line->presets);
    CHECK(line->arch.empty());
    listed.insert(line->request.kernel);
  }
  manifest::TemplateSet templates(std::vector<std::filesystem::path>{});
  for (const auto& found : templates.all()) {
    REQUIRE(found);
    if (!manifest::kernel_info(**found).probe) known.insert((*found)->kernel);
  }
  CHECK(listed == known);
}

}  // namespace tma_jit
