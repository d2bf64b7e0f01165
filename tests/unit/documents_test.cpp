// The links of the documents lead to files of the tree, and to headings of their pages.
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>

#include <doctest/doctest.h>

#include "base/file.h"
#include "base/text.h"

namespace tma_jit {
namespace {

namespace fs = std::filesystem;

// How a link names a heading, as GitHub has it: letters, digits, hyphens and underscores, and hyphens for blanks.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return anchor;
}

// A page's text without its fenced blocks.
std::vector<std::string> prose_of(const fs::path& page) {
  const std::string text = read_file(page).value();
  std::vector<std::string> lines;
  bool fenced = false;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("```")) fenced = !fenced;
    if (!fenced) lines.emplace_back(line);
  }
  return lines;
}

std::set<std::string> anchors_of(const fs::path& page) {
  std::set<std::string> anchors;
  for (const std::string& line : prose_of(page)) {
    const std::size_t text = line.find_first_not_of('#');
    if (text != 0 && text != std::string::npos && line[text] == ' ') anchors.insert(anchor_of(line.substr(text + 1)));
  }
  return anchors;
}

std::vector<fs::path> pages() {
  std::vector<fs::path> all = {TMA_JIT_SOURCE_DIR "/README.md", TMA_JIT_SOURCE_DIR "/CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(TMA_JIT_SOURCE_DIR "/docs")) {
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  }
  return all;
}

}  // namespace

TEST_CASE("links of the documents lead somewhere") {
  static const std::regex link(R"(\]\(([^)#:]*)(#[^)]*)?\))");
  int links = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& line : prose_of(page)) {
      for (std::sregex_iterator at(line.begin(), line.end(), link), end; at != end; ++at) {
        ++links;
        const fs::path file = at->str(1).empty() ? page : page.parent_path() / at->str(1);
        CHECK_MESSAGE(fs::exists(file), page.string() << " names " << file.string());
        if (at->str(2).empty() || !fs::exists(file)) continue;
        CHECK_MESSAGE(anchors_of(file).contains(at->str(2).substr(1)), page.string() << ": no heading " << at->str());
      }
    }
  }
  CHECK(links > 100);
}

}  // namespace tma_jit
