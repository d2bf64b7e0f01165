// Reading JSON that anybody may have written. nlohmann's values are copied, written out and compared by functions that
// call themselves, so that a text of a few megabytes of "[" ends the process; no text of this library's is deep.
#pragma once

#include <string_view>

#include <tma_jit/error.h>

#include "core/failure.h"

namespace tma_jit {

inline constexpr int kJsonDepthMax = 16;

// Whether arrays and objects lie in each other deeper than kJsonDepthMax, as far as the text is JSON. One pass over the
// text, and no memory.
[[nodiscard]] bool is_too_deep(std::string_view json);

// Every JSON of foreign bytes is read here. `Json` is an nlohmann::basic_json. Fails (parse) for what is not JSON or is
// too deep, before anything is built of it.
template <class Json> [[nodiscard]] Result<Json> read_json(std::string_view text) {
  if (is_too_deep(text)) return failure(ErrorCode::parse, "JSON of more than {} levels", kJsonDepthMax);
  try {
    return Json::parse(text);
  } catch (const typename Json::exception& fault) {
    return failure(ErrorCode::parse, "{}", fault.what());
  }
}

}  // namespace tma_jit
