#include "source/key.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/digest.h"
#include "source/preamble.h"

namespace tma_jit {

std::string Key::hex() const {
  return to_hex(bytes);
}

}  // namespace tma_jit

namespace tma_jit::source {
namespace {

enum class Tag : std::uint16_t { schema = 1, kind, arch, entry, text, headers, options, compiler };

class FieldHash {
 public:
  void field(Tag tag, std::string_view bytes) {
    number(static_cast<std::uint16_t>(tag), 2);
    number(bytes.size(), 8);
    hash_.update(bytes);
  }
  void count(Tag tag, std::size_t elements) {
    number(static_cast<std::uint16_t>(tag), 2);
    number(elements, 8);
  }
  Key finish() { return Key{hash_.finish()}; }

 private:
  void number(std::uint64_t value, std::size_t bytes) {
    std::array<std::uint8_t, 8> little{};
    for (std::size_t i = 0; i < bytes; ++i) little[i] = static_cast<std::uint8_t>(value >> (8 * i));
    hash_.update(little.data(), bytes);
  }

  Sha256 hash_;
};

// Returns false for options that change only the report or the speed of a compile.
bool changes_cubin(std::string_view option) {
  static constexpr std::array<std::string_view, 4> kPrefixes = {"--ptxas-options=-v", "--no-cache",
                                                                "-diag-suppress=", "--diag-suppress="};
  return std::ranges::none_of(kPrefixes, [&](std::string_view prefix) { return option.starts_with(prefix); });
}

std::string_view canonical(std::string_view option) {
  if (option == "--generate-line-info" || option == "--lineinfo") return "-lineinfo";
  if (option.starts_with("--std=")) return option.substr(1);
  return option;
}

std::vector<std::string_view> canonical_options(const Source& source) {
  std::vector<std::string_view> options;
  for (const std::string& option : source.options) {
    if (changes_cubin(option)) options.push_back(canonical(option));
  }
  return options;
}

// `header_names_file`: whether any header's text can depend on a file name.
bool path_matters(const Source& source, bool header_names_file) {
  const std::vector<std::string_view> options = canonical_options(source);
  return header_names_file || std::ranges::find(options, "-lineinfo") != options.end() || names_its_file(source.text);
}

void add_headers(FieldHash& hash, std::span<const HeaderDigest> headers) {
  std::vector<const HeaderDigest*> sorted;
  for (const HeaderDigest& header : headers) sorted.push_back(&header);
  std::ranges::sort(sorted, {}, &HeaderDigest::name);
  hash.count(Tag::headers, sorted.size());
  for (const HeaderDigest* header : sorted) {
    hash.field(Tag::headers, header->name);
    hash.field(Tag::headers, {reinterpret_cast<const char*>(header->digest.data()), header->digest.size()});
  }
}

NamedText as_compiled(const Source& source, bool header_names_file) {
  NamedText compiled{source.name, source.text};
  const std::size_t slash = source.name.rfind('/');
  if (slash == std::string::npos || path_matters(source, header_names_file)) return compiled;
  const std::string directive = line_directive(1, source.name);
  const std::size_t at = source.text.find(directive);
  if (at == std::string::npos) return compiled;
  compiled.name.erase(0, slash + 1);
  compiled.text.replace(at, directive.size(), line_directive(1, compiled.name));
  return compiled;
}

}  // namespace

bool names_its_file(std::string_view text) {
  if (text.find("FILE__") != std::string_view::npos || text.find("__builtin_FILE") != std::string_view::npos)
    return true;
  for (std::size_t at = text.find("assert"); at != std::string_view::npos; at = text.find("assert", at + 1)) {
    if (at == 0 || text[at - 1] != '_') return true;
  }
  return false;
}

NamedText as_compiled(const Source& source) {
  return as_compiled(source, std::ranges::any_of(source.headers, names_its_file, &Header::text));
}

Key key_of(const Source& source, std::string_view compiler_identity) {
  std::vector<HeaderDigest> headers;
  for (const Header& header : source.headers) {
    headers.push_back({header.name, sha256(header.text.data(), header.text.size()), names_its_file(header.text)});
  }
  return key_of(source, headers, compiler_identity);
}

Key key_of(const Source& source, std::span<const HeaderDigest> headers, std::string_view compiler_identity) {
  const std::vector<std::string_view> options = canonical_options(source);
  FieldHash hash;
  hash.count(Tag::schema, kKeySchema);
  hash.field(Tag::kind, "cubin");
  hash.field(Tag::arch, source.arch);
  hash.field(Tag::entry, source.entry);
  const bool header_names_file = std::ranges::any_of(headers, &HeaderDigest::names_its_file);
  hash.field(Tag::text, as_compiled(source, header_names_file).text);
  add_headers(hash, headers);
  hash.count(Tag::options, options.size());
  for (const std::string_view option : options) hash.field(Tag::options, option);
  hash.field(Tag::compiler, compiler_identity);
  return hash.finish();
}

}  // namespace tma_jit::source
