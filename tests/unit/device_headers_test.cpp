// templates/device is documented and shown whole: every header stands in the guide, and every primitive is used by a
// probe, a kernel or another primitive.
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/file.h"

namespace tma_jit {
namespace {

// The texts of a folder of templates/, by file name.
std::map<std::string, std::string> texts_of(const std::string& folder) {
  std::map<std::string, std::string> texts;
  for (const auto& file : std::filesystem::directory_iterator(TMA_JIT_SOURCE_DIR "/templates/" + folder))
    texts[file.path().filename().string()] = read_file(file.path()).value();
  return texts;
}

// The names of the functions that a header defines for devices, constructors and operators aside.
std::set<std::string> primitives_of(const std::string& text) {
  static const std::regex definition(R"(__device__ (?:inline |static |constexpr )*[\w:<>,*& ]*?[ *&](\w+)\()");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), definition), end; at != end; ++at) names.insert(at->str(1));
  names.erase("Instruction");
  return names;
}

int uses_of(const std::string& name, const std::string& text) {
  const std::regex word(fmt::format(R"(\b{}\b)", name));
  return static_cast<int>(std::distance(std::sregex_iterator(text.begin(), text.end(), word), {}));
}

}  // namespace

TEST_CASE("the guide's table has every device header") {
  const auto page = read_file(TMA_JIT_SOURCE_DIR "/docs/writing-templates.md");
  REQUIRE(page);
  for (const auto& [file, text] : texts_of("device")) {
    const std::string name = fmt::format("`{}`", file);
    CHECK_MESSAGE(page->find(name) != std::string::npos, name << " is not in docs/writing-templates.md");
  }
}

TEST_CASE("every device primitive is used by a probe, a kernel or another primitive") {
  // It ends the context: what it does before is bounded::wait's, which has a probe.
  const std::set<std::string> unused = {"wait_or_trap"};
  std::string users;
  for (const char* folder : {"probes", "kernels"}) {
    for (const auto& [file, text] : texts_of(folder)) users += text;
  }
  int primitives = 0;
  for (const auto& [file, text] : texts_of("device")) {
    for (const std::string& name : primitives_of(text)) {
      ++primitives;
      if (unused.contains(name) || uses_of(name, users) > 0) continue;
      CHECK_MESSAGE(uses_of(name, text) > 1, file << ": " << name << " is used by nothing");
    }
  }
  CHECK(primitives > 150);
}

}  // namespace tma_jit
