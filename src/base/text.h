// Trimming, splitting, joining and quoting of text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tma_jit {

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);

// Quotes the word for a POSIX shell: in single quotes, unless no character needs them.
[[nodiscard]] std::string quoted_for_shell(std::string_view word);

// Returns e.g. "a, b, c".
std::string joined(std::span<const std::string> words, std::string_view separator = ", ");

}  // namespace tma_jit
