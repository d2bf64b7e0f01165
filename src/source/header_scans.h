// A cache of the scans of headers, because an engine emits the same few headers repeatedly.
#pragma once

#include <memory>
#include <string_view>

#include "source/preprocessor_lines.h"

namespace tma_jit::source {

// Returns scan(text), cached while the header of this name has the same text. Thread-safe; the child of a fork starts
// with an empty cache.
[[nodiscard]] std::shared_ptr<const Scan> scan_of_header(std::string_view name, std::string_view text);

}  // namespace tma_jit::source
