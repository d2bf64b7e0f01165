// The scans of headers, remembered: an engine emits the same few headers again and again.
#pragma once

#include <memory>
#include <string_view>

#include "source/preprocessor_lines.h"

namespace tma_jit::source {

// scan(text), taken from the last time a header of this name had the same text. Thread-safe; a child of a fork starts
// with nothing remembered.
[[nodiscard]] std::shared_ptr<const Scan> scan_of_header(std::string_view name, std::string_view text);

}  // namespace tma_jit::source
