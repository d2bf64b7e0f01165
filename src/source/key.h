// The key of a cubin in every cache: a hash of everything that can change its bytes, and of nothing else.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>

#include "source/shipped_headers.h"

namespace tma_jit::source {

// Incremented when the fields or their encoding change.
inline constexpr int kKeySchema = 1;

// Returns the SHA-256 of the fields below, each written as tag (u16), length (u64) and bytes, little-endian; a list is
// its count followed by its elements. `compiler_identity` is compile::Location::identity.
//
//   1 schema   2 kind ("cubin")   3 arch   4 entry   5 text   6 headers: name, SHA-256 of the text
//   7 options, canonical          8 compiler identity
//
// The text is that of as_compiled, so that the template's folder does not matter.
Key key_of(const Source& source, std::string_view compiler_identity);
// The same for a source that lacks its headers, which are those.
Key key_of(const Source& source, std::span<const HeaderDigest> headers, std::string_view compiler_identity);

// Returns whether the text can depend on its file name: by __FILE__, or by assert, which NVRTC defines with it.
bool names_its_file(std::string_view text);

struct NamedText {
  std::string name;
  std::string text;
};
// Returns a source's name and text as passed to the compiler: without the folder in the name and in `#line 1 "FILE"`,
// unless line information or __FILE__ would put the folder into the cubin.
NamedText as_compiled(const Source& source);

// The inputs of key_of as small named parts, from which the difference of two keys can be found later: short values
// unchanged, texts as the first 8 bytes of their SHA-256. Ordered as in an explanation: target, constants, hooks,
// texts, options.
struct KeyField {
  std::string name;
  std::string value;
};
std::vector<KeyField> key_fields(const Source& source, std::string_view compiler_identity);

}  // namespace tma_jit::source
