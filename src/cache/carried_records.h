// Tuning records in caches: a folder has them in a file beside its entries, a pack in an entry of their own, which its
// signature covers like the others.
#pragma once

#include <string>
#include <string_view>

#include <tma_jit/artifact.h>

#include "cache/entry.h"

namespace tma_jit::cache {

inline constexpr std::string_view kRecordsFile = "tuned.jsonl";

// Returns the key of the entry, which is that of no kernel.
[[nodiscard]] Key records_key();
// Returns the entry that carries the lines of a file of records, which are not empty, and its inverse.
[[nodiscard]] Entry records_entry(std::string_view lines);
[[nodiscard]] std::string lines_of(const Entry& entry);

}  // namespace tma_jit::cache
