// Prints facts of the library's templates that a start shall not compute. The build runs it.
//   tma_jit_template_digests templates   the digests by which tuning records identify templates, a line each, by name
//                                        (tuning/shipped_digests.h)
//   tma_jit_template_digests headers     a C++ source with the table of source/shipped_headers.h
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "source/headers.h"
#include "source/key.h"
#include "source/preamble.h"
#include "source/preprocessor_lines.h"
#include "template/catalogue.h"
#include "template/embedded_templates.h"
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

void print_templates() {
  templates::TemplateSet set;
  std::map<std::string, std::string> digests;
  for (const auto& kernel : set.all()) {
    if (!kernel) continue;  // whoever uses it gets the error
    if (const auto digest = digest_of(**kernel, set)) digests[(*kernel)->file()] = *digest;
  }
  for (const auto& [file, digest] : digests) std::printf("%s %s\n", file.c_str(), digest.c_str());
}

using Headers = std::map<std::string, std::string_view>;  // texts by name

// Returns whether the table says everything that an emission finds out of the header: the compiler finds what it
// includes by the names that it gives.
bool is_plain(const Headers& headers, const std::string& name) {
  const auto lookup = [](std::string_view file) { return templates::header_in(templates::embedded_templates(), file); };
  const auto reached = source::reachable_headers({{name, headers.at(name)}}, lookup);
  if (!reached) return false;
  for (const Header& header : *reached) {
    if (!headers.contains(header.name)) return false;
  }
  return true;
}

Headers plain_headers() {
  Headers all;
  for (const EmbeddedFile& file : templates::embedded_templates()) {
    if (!templates::is_template(file)) all.emplace(file.name, file.text());
  }
  Headers plain;
  for (const auto& [name, text] : all) {
    if (is_plain(all, name)) plain.emplace(name, text);
  }
  return plain;
}

// Returns the numbers of the headers that a header includes itself.
std::vector<std::size_t> included(const Headers& headers, const source::Scan& scan) {
  std::vector<std::size_t> numbers;
  for (const source::Directive& directive : scan.directives) {
    if (!directive.names_a_header()) continue;
    const auto found = headers.find(directive.argument);
    if (found == headers.end()) continue;  // in angle brackets or in an __has_include: the compiler finds none either
    numbers.push_back(static_cast<std::size_t>(std::distance(headers.begin(), found)));
  }
  return numbers;
}

void print_headers() {
  const Headers headers = plain_headers();
  std::string names, entries, includes;
  std::size_t name_at = 0, include_at = 0;
  for (const auto& [name, text] : headers) {
    const source::Scan scan = source::scan(text);
    names += "    \"" + name + "\\0\"\n";
    const std::size_t begin = include_at;
    for (const std::size_t number : included(headers, scan)) {
      includes += std::to_string(number) + ",";
      ++include_at;
    }
    entries += "    {" + std::to_string(name_at) + ", {";
    for (const std::uint8_t byte : sha256(text.data(), text.size())) entries += std::to_string(byte) + ",";
    entries += "}";
    for (const bool trait : {source::names_its_file(text), scan.pastes, scan.fragment.has_value()})
      entries += trait ? ", true" : ", false";
    entries += ", " + std::to_string(begin) + ", " + std::to_string(include_at) + "},\n";
    name_at += name.size() + 1;
  }
  std::printf(
      "#include \"source/shipped_headers.h\"\n\nnamespace tma_jit::source {\n\n"
      "static const ShippedHeaders::Entry entries[] = {\n%s};\nstatic const std::uint16_t includes[] = {%s};\n"
      "const ShippedHeaders kShippedHeaders = {\n%s    , entries, includes};\n\n}  // namespace tma_jit::source\n",
      entries.c_str(), includes.c_str(), names.c_str());
}

}  // namespace

int main(int count, char** words) {
  const std::string_view what = count == 2 ? words[1] : "";
  if (what != "templates" && what != "headers") {
    std::fprintf(stderr, "tma_jit_template_digests templates | headers\n");
    return 2;
  }
  what == "templates" ? print_templates() : print_headers();
  return 0;
}
