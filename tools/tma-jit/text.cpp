#include "text.h"

#include <array>

namespace tma_jit::cli {
namespace {

bool starts_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool continues_identifier(char c) {
  return starts_identifier(c) || (c >= '0' && c <= '9');
}

}  // namespace

Outcome<Pair> split_pair(std::string_view word, std::string_view what) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size())
    return usage("{} \"{}\": expected NAME=VALUE", what, word);
  Pair pair{std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))};
  if (!is_identifier(pair.name)) return usage("{} \"{}\": \"{}\" is not a name", what, word, pair.name);
  return pair;
}

namespace {

template <class Integer> std::optional<Integer> whole_number_in(std::string_view text) {
  return text.starts_with("0x") ? read_number<Integer>(text.substr(2), 16) : read_number<Integer>(text);
}

}  // namespace

std::optional<std::int64_t> integer_in(std::string_view text) {
  return whole_number_in<std::int64_t>(text);
}

std::optional<std::uint64_t> unsigned_in(std::string_view text) {
  return whole_number_in<std::uint64_t>(text);
}

std::optional<double> number_in(std::string_view text) {
  return read_number<double>(text);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool is_identifier(std::string_view text) {
  return !text.empty() && starts_identifier(text.front()) &&
         std::all_of(text.begin(), text.end(), continues_identifier);
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = text.find(',');
    parts.emplace_back(trimmed(text.substr(0, comma)));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

std::string indented(std::string_view text, std::size_t blanks) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out.append(blanks, ' ').append(line).append("\n");
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return out;
}

std::string bracketed(std::span<const std::int64_t> values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string readable_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace tma_jit::cli
