// Small text work: trimming, splitting, joining, quoting.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tma_jit {

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);

// The word as a POSIX shell reads it back: in single quotes, unless it has none of the characters that need them.
[[nodiscard]] std::string quoted_for_shell(std::string_view word);

// "a, b, c"
std::string joined(std::span<const std::string> words, std::string_view separator = ", ");

}  // namespace tma_jit
