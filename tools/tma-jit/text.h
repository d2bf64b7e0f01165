// Parsing and formatting of text: NAME=VALUE, numbers, identifiers.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "outcome.h"

namespace tma_jit::cli {

struct Pair {
  std::string name;
  std::string value;
};
// Splits at the first '='. `what` is the word's name in errors, e.g. "--hook".
[[nodiscard]] Outcome<Pair> split_pair(std::string_view word, std::string_view what);

std::optional<std::int64_t> integer_in(std::string_view text);  // the whole text, decimal or 0x
std::optional<std::uint64_t> unsigned_in(std::string_view text);
std::optional<double> number_in(std::string_view text);
// Returns the number that the whole text is, as std::from_chars reads it.
template <class Number, class... Base> std::optional<Number> read_number(std::string_view text, Base... base) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, fault] = std::from_chars(text.data(), end, number, base...);
  if (fault != std::errc() || stopped != end) return std::nullopt;
  return number;
}

std::string_view trimmed(std::string_view text);
bool is_identifier(std::string_view text);
// Splits at commas and trims the parts.
std::vector<std::string> split_commas(std::string_view text);

// Returns every line of a text indented by `blanks` and ended by a newline.
std::string indented(std::string_view text, std::size_t blanks);

// Returns e.g. "[1, 2, 3]".
std::string bracketed(std::span<const std::int64_t> values);
// Converts e.g. 1536 to "1.5 KiB".
std::string readable_bytes(std::uint64_t bytes);

}  // namespace tma_jit::cli
