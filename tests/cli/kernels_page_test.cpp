// docs/kernels.md lists the kernels, their formulas and their files as the manifests state them. TMA_JIT_UPDATE_GOLDEN=1
// writes the list into the page.
#include <doctest/doctest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "command.h"

namespace tma_jit::cli {
namespace {

struct File {
  std::string name;
  std::string doc;
  std::string archs;
};

// The targets of a file; those that serve every target do not list them.
std::string archs_of(const nlohmann::json& archs) {
  constexpr std::size_t kTargets = 8;
  if (archs.size() == kTargets) return "every target from `sm_80`";
  std::string text;
  for (const std::string arch : archs) text += (text.empty() ? "`" : ", `") + arch + "`";
  return text;
}

std::map<std::string, std::vector<File>> files_of_kernels() {
  std::map<std::string, std::vector<File>> kernels;
  const nlohmann::json listed = run_command({"list", "--json"}).json();
  for (const nlohmann::json& kernel : listed.at("kernels")) {
    const std::filesystem::path file = kernel.at("file").get<std::string>();
    kernels[kernel.at("kernel")].push_back({file.stem(), kernel.at("doc"), archs_of(kernel.at("archs"))});
  }
  return kernels;
}

// With a capital letter, unless it begins with a formula.
std::string sentence(std::string text) {
  if (text.size() > 1 && std::islower(text[0]) != 0 && std::islower(text[1]) != 0)
    text[0] = static_cast<char>(std::toupper(text[0]));
  return text;
}

// A section: the shortest formula, and the files with what they add to it.
std::string section_of(const std::string& kernel, const std::vector<File>& files) {
  std::string formula = files.front().doc;
  for (const File& file : files) {
    if (file.doc.size() < formula.size()) formula = file.doc;
  }
  std::string text = "\n## " + kernel + "\n\n" + sentence(formula) + ".\n\n";
  for (const File& file : files) {
    text += "- `" + file.name + "`, " + file.archs;
    if (file.doc.starts_with(formula + "; "))
      text += ": " + file.doc.substr(formula.size() + 2);
    else if (file.doc != formula)
      text += ": " + file.doc;
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("docs/kernels.md lists what the manifests state") {
  const std::filesystem::path path = TMA_JIT_SOURCE_DIR "/docs/kernels.md";
  std::string page;
  for (const auto& [kernel, files] : files_of_kernels()) page += section_of(kernel, files);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string head = text.str().substr(0, text.str().find("\n## "));
  if (std::getenv("TMA_JIT_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << head << page;
  INFO("TMA_JIT_UPDATE_GOLDEN=1 writes it anew");
  CHECK(text.str().substr(head.size()) == page);
}

}  // namespace tma_jit::cli
