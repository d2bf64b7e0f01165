// Splits the inputs of a key into named fields. See key.h.
#include <algorithm>
#include <cstdint>
#include <span>

#include "base/digest.h"
#include "base/text.h"
#include "source/key.h"
#include "source/preamble.h"

namespace tma_jit::source {
namespace {

std::string short_digest(std::string_view text) {
  const Digest digest = sha256(text.data(), text.size());
  return to_hex(std::span(digest).first(8));
}

// Reads name and type of "Operand<bf16, 2, f32, true> up;" or "f32 alpha;", members of Hooks. Returns false for other
// lines.
bool read_operand(std::string_view line, KeyField& field) {
  const std::size_t name = line.rfind(' ');
  if (name == std::string_view::npos || !line.ends_with(';')) return false;
  field.name = line.substr(name + 1, line.size() - name - 2);
  field.value = line.substr(0, name);
  return true;
}

// Reads name and value of "using T = bf16;" or "constexpr int BM = 64;". Returns false for other lines.
bool read_constant(std::string_view line, KeyField& field) {
  if (!line.starts_with("using ") && !line.starts_with("constexpr ")) return false;
  const std::size_t equals = line.find(" = ");
  if (equals == std::string_view::npos || !line.ends_with(';')) return false;
  const std::string_view declared = line.substr(0, equals);
  field.name = declared.substr(declared.rfind(' ') + 1);
  field.value = line.substr(equals + 3, line.size() - equals - 4);
  return true;
}

// Splits emission's preamble by lines: constants and operands become fields of their own, the rest (hooks, the layout
// of Dims) one field.
void add_preamble(std::string_view text, std::vector<KeyField>& fields) {
  std::string rest;
  bool in_operands = false, in_hooks = false;
  for (const std::string_view line : split(text, '\n')) {
    KeyField field;
    in_hooks = in_hooks || line.starts_with("__device__") || line.starts_with("#pragma");
    if (!in_hooks && (in_operands ? read_operand(line, field) : read_constant(line, field))) {
      fields.push_back(std::move(field));
    } else if (!line.starts_with("#line")) {
      rest.append(line).push_back('\n');
    }
    in_operands = in_operands || line == "struct alignas(8) Hooks {";
  }
  fields.push_back({"dims and hooks", short_digest(rest)});
}

}  // namespace

std::vector<KeyField> key_fields(const Source& source, std::string_view compiler_identity) {
  std::vector<KeyField> fields = {{"arch", source.arch}, {"compiler", std::string(compiler_identity)}};
  const std::string handover = line_directive(1, source.name);
  const std::size_t body = source.text.find(handover);
  if (body == std::string::npos) {
    fields.push_back({"text", short_digest(source.text)});
  } else {
    add_preamble(std::string_view(source.text).substr(0, body), fields);
    fields.push_back({"template", short_digest(std::string_view(source.text).substr(body + handover.size()))});
  }
  std::vector<KeyField> headers;
  for (const Header& header : source.headers) headers.push_back({header.name, short_digest(header.text)});
  std::ranges::sort(headers, {}, &KeyField::name);
  fields.insert(fields.end(), headers.begin(), headers.end());
  fields.push_back({"options", joined(source.options, " ")});
  fields.push_back({"entry point", source.entry});
  return fields;
}

}  // namespace tma_jit::source
