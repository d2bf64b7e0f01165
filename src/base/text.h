// Small text work: trimming, splitting, and the suggestion in "did you mean".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tma_jit {

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);

// "; did you mean \"STAGES\"?" for the nearest candidate within a third of the word's length, else "".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

// "a, b, c"
std::string joined(std::span<const std::string> words, std::string_view separator = ", ");

}  // namespace tma_jit
