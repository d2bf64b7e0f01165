// The records that the library ships: cache/tuned/*.jsonl, made by tools/tuned/make.sh and embedded.
#pragma once

#include <span>
#include <string_view>

#include "base/embedded_file.h"
#include "tuning/record_book.h"

namespace tma_jit::tuning {

// Returns the embedded files.
[[nodiscard]] std::span<const EmbeddedFile> shipped_files();
// Returns the lines of those that were measured on a device of that model. The library's own lines are of the form that
// tuning_line writes, and those of a file are of one device, which a test makes sure of, so that none is read before it
// is asked for.
[[nodiscard]] SharedLayer shipped_layer(std::string_view device);

}  // namespace tma_jit::tuning
