// Reading of JSON from untrusted sources. nlohmann copies, prints and compares values recursively, so that a text of a
// few megabytes of "[" overflows the stack. No JSON of this library nests deeply.
#pragma once

#include <exception>
#include <string_view>

#include <tma_jit/error.h>

#include "core/failure.h"

namespace tma_jit {

inline constexpr int kJsonDepthMax = 16;

// Returns whether arrays and objects nest deeper than kJsonDepthMax. Scans the text once and allocates nothing; the
// text need not be valid JSON.
[[nodiscard]] bool is_too_deep(std::string_view json);

// Returns what an exception of nlohmann's says without its kind and number: "type must be string, but is number".
inline std::string_view words_of(const std::exception& fault) {
  const std::string_view words = fault.what();
  const std::size_t kind = words.find("] ");
  return words.starts_with('[') && kind != words.npos ? words.substr(kind + 2) : words;
}

// Parses JSON from outside the library; every such text must be read with it. `Json` is an nlohmann::basic_json. Fails
// (parse) if the text is not JSON, or, before parsing, if it nests too deeply.
template <class Json> [[nodiscard]] Result<Json> read_json(std::string_view text) {
  if (is_too_deep(text)) return failure(ErrorCode::parse, "JSON of more than {} levels", kJsonDepthMax);
  try {
    return Json::parse(text);
  } catch (const typename Json::exception& fault) {
    return failure(ErrorCode::parse, "{}", words_of(fault));
  }
}

}  // namespace tma_jit
