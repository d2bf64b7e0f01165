// docs/writing-templates.md and docs/manifest.md must stay true: their templates parse, and so does every manifest line
// they show.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "template/template.h"

namespace tma_jit::templates {
namespace {

struct Fence {
  std::string language;
  std::string text;
};

std::vector<Fence> fences_of(const std::string& page) {
  std::vector<Fence> fences;
  bool open = false;
  for (const std::string_view line : split(page, '\n')) {
    if (line.starts_with("```")) {
      open = !open;
      if (open) fences.push_back({std::string(line.substr(3)), {}});
    } else if (open) {
      fences.back().text += fmt::format("{}\n", line);
    }
  }
  return fences;
}

// Words that a line shown by itself may lack: what other lines would declare.
bool lacks_only_names(const Error& error) {
  for (const std::string_view text :
       {"unknown name", "unknown type", "unknown param", "unknown tensor", "unknown list"}) {
    if (error.message.find(text) != std::string::npos) return true;
  }
  return false;
}

// Both pages, the templates first.
std::string guide() {
  return read_file(TMA_JIT_SOURCE_DIR "/docs/writing-templates.md").value() +
         read_file(TMA_JIT_SOURCE_DIR "/docs/manifest.md").value();
}

}  // namespace

TEST_CASE("the guide's templates and lines parse") {
  int templates = 0;
  int lines = 0;
  for (const Fence& fence : fences_of(guide())) {
    if (fence.language == "cuda") {
      ++templates;
      const auto result = parse("scale.cu", fence.text);
      if (!result) FAIL_CHECK(result.error().text());
    }
    if (!fence.language.empty() || !fence.text.starts_with("//!")) continue;
    for (const std::string_view line : split(fence.text, '\n')) {
      const bool launches = line.find("launch") != std::string_view::npos;
      const auto result = parse(
          "line.cu",
          fmt::format("{}\n//! kernel k\n//! arch sm_90a\n{}", line, launches ? "" : "//! launch grid 1 block 1\n"),
          [](std::string_view name) { return read_file(std::string(TMA_JIT_SOURCE_DIR "/templates/").append(name)); });
      ++lines;
      if (!result && !lacks_only_names(result.error())) FAIL_CHECK(result.error().text());
    }
  }
  CHECK(templates >= 5);
  CHECK(lines >= 20);
}

TEST_CASE("the guide's example of an error is what the parser says") {
  const std::string page = guide();
  for (const Fence& fence : fences_of(page)) {
    std::string text = fence.text;
    const std::size_t at = text.find("ceil_div(M, ROWS)");
    if (fence.language != "cuda" || at == std::string::npos) continue;
    text.replace(at, 17, "ceil_div(M, ROW)");
    const auto result = parse("kernels/scale.cu", text);
    REQUIRE_FALSE(result);
    CHECK(page.find(result.error().text()) != std::string::npos);
    return;
  }
  FAIL("no template has the line that the example spoils");
}

}  // namespace tma_jit::templates
