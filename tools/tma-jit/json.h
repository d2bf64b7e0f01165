// JSON objects that keep the order of their keys. The class is compiled once, in json.cpp, and so is its parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace tma_jit::cli {

using Json = nlohmann::ordered_json;

// Throws nlohmann's exception if the text is not JSON, which what the library prints always is.
Json parse_json(std::string_view text);
// Returns a discarded value if the text is not JSON.
Json try_parse_json(std::string_view text);
// Appends the values of a text that has one or more, one after another; returns false if it has anything else.
bool try_parse_all(const std::string& text, std::vector<Json>& values);

}  // namespace tma_jit::cli
