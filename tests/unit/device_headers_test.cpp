// templates/device is documented and shown whole: every header stands in the page of its folder, and every
// primitive is used by a probe, a kernel or another primitive.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/file.h"
#include "core/map_types.h"

namespace tma_jit {
namespace {

// The texts below a folder of templates/, by their path below it.
std::map<std::string, std::string> texts_of(const std::string& folder) {
  const std::filesystem::path top = TMA_JIT_SOURCE_DIR "/templates/" + folder;
  std::map<std::string, std::string> texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
    if (entry.is_regular_file()) texts[entry.path().lexically_relative(top).string()] = read_file(entry.path()).value();
  }
  return texts;
}

// The names of the functions that a header defines for devices, constructors and operators aside.
std::set<std::string> primitives_of(const std::string& text) {
  static const std::regex definition(R"(__device__ (?:inline |static |constexpr )*[\w:<>,*& ]*?[ *&](\w+)\()");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), definition), end; at != end; ++at) names.insert(at->str(1));
  names.erase("Instruction");
  names.erase("operator");
  return names;
}

// How often each word stands in a text.
std::map<std::string, int> words_of(const std::string& text) {
  std::map<std::string, int> words;
  std::string word;
  for (const char c : text + ' ') {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
    } else if (!word.empty()) {
      ++words[word];
      word.clear();
    }
  }
  return words;
}

// Returns the texts of the headers that include this one, themselves or through others.
std::string texts_above(const std::map<std::string, std::string>& headers, const std::string& name) {
  std::set<std::string> reached = {name};
  std::string above;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [file, text] : headers) {
      const bool includes = !reached.contains(file) && std::ranges::any_of(reached, [&](const std::string& below) {
        return text.find(fmt::format("#include \"device/{}\"", below)) != std::string::npos;
      });
      if (!includes) continue;
      reached.insert(file), above += text, more = true;
    }
  }
  return above;
}

}  // namespace

TEST_CASE("the device header counts the types of tensor maps as the table does") {
  const std::string header = texts_of("device").at("ptx/tensormap.cuh");
  const std::size_t begin = header.find("enum class Type {") + std::string_view("enum class Type {").size();
  const std::string names = header.substr(begin, header.find('}', begin) - begin);
  static const std::regex name(R"(\w+)");
  int number = 0;
  for (std::sregex_iterator at(names.begin(), names.end(), name), end; at != end; ++at, ++number) {
    const auto* row = std::ranges::find(kMapTypes, at->str(), &MapTypeRow::name);
    REQUIRE_MESSAGE(row != kMapTypes.end(), at->str());
    CHECK_MESSAGE(row->ptx == number, at->str());
  }
  CHECK(number == static_cast<int>(kMapTypes.size()));
}

TEST_CASE("every device header is named in the page of its folder, and the pages name no other") {
  const std::filesystem::path pages = TMA_JIT_SOURCE_DIR "/docs/device";
  const auto headers = texts_of("device");
  for (const auto& [file, text] : headers) {
    const std::string folder = std::filesystem::path(file).parent_path();
    const std::string page = folder.empty() ? "README.md" : folder + ".md";
    const std::string name = fmt::format("`{}`", file);
    const auto rows = read_file(pages / page);
    CHECK_MESSAGE((rows && rows->find(name) != std::string::npos), name << " is not in docs/device/" << page);
  }
  static const std::regex header(R"(`(?:device/)?(\w+/\w+\.cuh)`)");
  for (const auto& entry : std::filesystem::directory_iterator(pages)) {
    const std::string text = read_file(entry.path()).value();
    for (std::sregex_iterator at(text.begin(), text.end(), header), end; at != end; ++at)
      CHECK_MESSAGE(headers.contains(at->str(1)), entry.path().filename() << " names " << at->str(1));
  }
}

TEST_CASE("every device primitive is used by a probe, a kernel or another primitive") {
  // It ends the context: what it does before is bounded::wait's, which has a probe.
  // "abs" and "ldexpf" are for hooks of attention; pipelines call the others of any schedule or epilogue that is given
  // to them. "add_columns" is called where its header is included by another, and
  // "copy_pack" where the preamble includes its.
  const std::set<std::string> unused = {
      "abs",        "ldexpf",      "wait_or_trap",   "query_at",          "key_at",      "hook_head", "of_row",
      "whole_from", "ends_within", "head_in_tensor", "store_ragged_rows", "add_columns", "copy_pack", "first_column"};
  std::string users;
  for (const char* folder : {"probes", "kernels"}) {
    for (const auto& [file, text] : texts_of(folder)) users += text;
  }
  const std::map<std::string, int> used = words_of(users);
  int primitives = 0;
  const auto headers = texts_of("device");
  for (const auto& header : headers) {
    const std::map<std::string, int> here = words_of(header.second);
    const std::map<std::string, int> used_above = words_of(texts_above(headers, header.first));
    for (const std::string& name : primitives_of(header.second)) {
      ++primitives;
      if (unused.contains(name) || used.contains(name) || used_above.contains(name)) continue;
      CHECK_MESSAGE(here.at(name) > 1, header.first << ": " << name << " is used by nothing");
    }
  }
  CHECK(primitives > 150);
}

}  // namespace tma_jit
