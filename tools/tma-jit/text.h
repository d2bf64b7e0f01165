// Small text work: NAME=VALUE, numbers, identifiers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outcome.h"

namespace tma_jit::cli {

struct Pair {
  std::string name;
  std::string value;
};
// Splits at the first '='. `what` is how the error names the word, e.g. "--hook".
[[nodiscard]] Outcome<Pair> split_pair(std::string_view word, std::string_view what);

std::optional<std::int64_t> integer_in(std::string_view text);  // the whole text, decimal or 0x
std::optional<double> number_in(std::string_view text);

std::string_view trimmed(std::string_view text);
bool is_identifier(std::string_view text);
// The parts are trimmed.
std::vector<std::string> split_commas(std::string_view text);

// Every line of a text after so many blanks, ended by a newline.
std::string indented(std::string_view text, std::size_t blanks);

// "[1, 2, 3]"
std::string bracketed(std::span<const std::int64_t> values);
// 1536 -> "1.5 KiB"
std::string readable_bytes(std::uint64_t bytes);

}  // namespace tma_jit::cli
