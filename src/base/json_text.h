// Reading of JSON from untrusted sources. nlohmann copies, prints and compares values recursively, so that a text of a
// few megabytes of "[" overflows the stack. No JSON of this library nests deeply.
#pragma once

#include <string_view>

#include <tma_jit/error.h>

#include "core/failure.h"

namespace tma_jit {

inline constexpr int kJsonDepthMax = 16;

// Returns whether arrays and objects nest deeper than kJsonDepthMax. Scans the text once and allocates nothing; the
// text need not be valid JSON.
[[nodiscard]] bool is_too_deep(std::string_view json);

// Parses JSON from outside the library; every such text must be read with it. `Json` is an nlohmann::basic_json. Fails
// (parse) if the text is not JSON, or, before parsing, if it nests too deeply.
template <class Json> [[nodiscard]] Result<Json> read_json(std::string_view text) {
  if (is_too_deep(text)) return failure(ErrorCode::parse, "JSON of more than {} levels", kJsonDepthMax);
  try {
    return Json::parse(text);
  } catch (const typename Json::exception& fault) {
    return failure(ErrorCode::parse, "{}", fault.what());
  }
}

}  // namespace tma_jit
