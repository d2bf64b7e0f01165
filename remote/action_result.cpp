#include "remote/action_result.h"

#include <algorithm>

namespace tma_jit::remote {
namespace {

using Bytes = std::span<const std::byte>;

// Wire types of protocol buffers.
constexpr unsigned kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5;

void put_varint(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

void put_delimited(std::vector<std::byte>& out, unsigned field, Bytes content) {
  put_varint(out, field << 3 | kDelimited);
  put_varint(out, content.size());
  out.insert(out.end(), content.begin(), content.end());
}

void put_text(std::vector<std::byte>& out, unsigned field, std::string_view text) {
  put_delimited(out, field, std::as_bytes(std::span(text)));
}

std::optional<std::uint64_t> take_varint(Bytes& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest.empty()) return std::nullopt;
    const auto byte = std::to_integer<std::uint64_t>(rest.front());
    rest = rest.subspan(1);
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  // of a varint
  Bytes content{};          // of a delimited field
};

std::optional<Bytes> take_bytes(Bytes& rest, std::uint64_t count) {
  if (count > rest.size()) return std::nullopt;
  const Bytes taken = rest.first(static_cast<std::size_t>(count));
  rest = rest.subspan(taken.size());
  return taken;
}

std::optional<Field> take_field(Bytes& rest) {
  const auto tag = take_varint(rest);
  if (!tag) return std::nullopt;
  Field field{.number = *tag >> 3};
  const auto wire = static_cast<unsigned>(*tag & 7);
  if (wire == kFixed64 || wire == kFixed32)
    return take_bytes(rest, wire == kFixed64 ? 8 : 4) ? std::optional(field) : std::nullopt;
  if (wire != kVarint && wire != kDelimited) return std::nullopt;
  const auto value = take_varint(rest);
  if (!value) return std::nullopt;
  field.value = *value;
  if (wire == kVarint) return field;
  const auto content = take_bytes(rest, *value);
  if (!content) return std::nullopt;
  field.content = *content;
  return field;
}

// Returns the first field of that number; nullopt if there is none or the message is malformed.
std::optional<Field> field_of(Bytes message, std::uint64_t number) {
  std::optional<Field> found;
  while (!message.empty()) {
    const auto field = take_field(message);
    if (!field) return std::nullopt;
    if (!found && field->number == number) found = field;
  }
  return found;
}

bool is_digest(std::string_view text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::vector<std::byte> action_result(std::string_view path, const Blob& blob) {
  std::vector<std::byte> digest, file, result;
  put_text(digest, 1, blob.sha256);
  put_varint(digest, 2 << 3 | kVarint);
  put_varint(digest, blob.bytes);
  put_text(file, 1, path);
  put_delimited(file, 2, digest);
  put_delimited(result, 2, file);
  return result;
}

std::optional<Blob> output_of(Bytes action_result) {
  const auto file = field_of(action_result, 2);
  const auto digest = file ? field_of(file->content, 2) : std::nullopt;
  const auto hash = digest ? field_of(digest->content, 1) : std::nullopt;
  const auto size = digest ? field_of(digest->content, 2) : std::nullopt;
  if (!hash || !size) return std::nullopt;
  Blob blob{{reinterpret_cast<const char*>(hash->content.data()), hash->content.size()}, size->value};
  return is_digest(blob.sha256) ? std::optional(blob) : std::nullopt;
}

}  // namespace tma_jit::remote
