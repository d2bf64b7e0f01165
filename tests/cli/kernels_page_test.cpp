// docs/kernels.md has what `tma-jit list` prints. TMA_JIT_UPDATE_GOLDEN=1 writes it into the page.
#include <doctest/doctest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

#include <tma_jit/device_info.h>

#include "command.h"

namespace tma_jit::cli {
namespace {

// With a capital letter, unless it begins with a formula.
std::string sentence(std::string text) {
  if (text.size() > 1 && std::islower(text[0]) != 0 && std::islower(text[1]) != 0)
    text[0] = static_cast<char>(std::toupper(text[0]));
  return text;
}

// The targets of all known devices as a file that serves them all lists them.
std::string every_target() {
  std::map<int, std::string> targets;  // by number
  for (const std::string& name : known_devices()) {
    const std::string arch = device_named(name).value().arch;
    targets[std::stoi(arch.substr(3))] = arch;
  }
  std::string listed;
  for (const auto& [number, arch] : targets) listed += (listed.empty() ? "" : " ") + arch;
  return listed;
}

// A section per kernel: what it computes, and its files.
std::string sections_of(const std::string& listed) {
  static const std::regex every(every_target());
  std::string page;
  std::istringstream lines(listed);
  for (std::string line; std::getline(lines, line);) {
    const bool file = line.starts_with("    ");
    const std::size_t begin = file ? 4 : 0, end = line.find("  ", begin);
    const std::string name = line.substr(begin, end - begin), rest = line.substr(end + 2);
    if (file)
      page += "- `" + name + "`, " + std::regex_replace(rest, every, "every target from sm_80") + "\n";
    else
      page += "\n## " + name + "\n\n" + sentence(rest) + ".\n\n";
  }
  return page;
}

}  // namespace

TEST_CASE("docs/kernels.md has what list prints") {
  const std::filesystem::path path = TMA_JIT_SOURCE_DIR "/docs/kernels.md";
  const std::string sections = sections_of(run_command({"list"}).out);
  std::ostringstream page;
  page << std::ifstream(path).rdbuf();
  const std::string head = page.str().substr(0, page.str().find("\n## "));
  INFO("TMA_JIT_UPDATE_GOLDEN=1 writes it anew");
  if (std::getenv("TMA_JIT_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << head << sections;
  else
    CHECK(page.str().substr(head.size()) == sections);
}

}  // namespace tma_jit::cli
