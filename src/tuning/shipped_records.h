// The records that the library ships: cache/tuned/*.jsonl, made by tools/tuned/make.sh and embedded.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <tma_jit/tuning.h>

#include "base/embedded_file.h"

namespace tma_jit::tuning {

// Returns the embedded files.
[[nodiscard]] std::span<const EmbeddedFile> shipped_files();
// Returns the shipped records of a kernel. Only their lines are parsed; a line that is no record is passed over.
[[nodiscard]] std::vector<TuningRecord> shipped_records(std::string_view kernel);

}  // namespace tma_jit::tuning
