#include "tuning/shipped_records.h"

#include <fmt/format.h>

#include "base/text.h"

namespace tma_jit {

// cache/tuned/*.jsonl, embedded by src/CMakeLists.txt.
extern const EmbeddedFile kShippedRecords[];
extern const unsigned long kShippedRecordsCount;

namespace tuning {

std::span<const EmbeddedFile> shipped_files() {
  return {kShippedRecords, kShippedRecordsCount};
}

// A line begins with its kernel, as tuning_line writes it.
std::vector<TuningRecord> shipped_records(std::string_view kernel) {
  std::vector<TuningRecord> records;
  const std::string prefix = fmt::format("{{\"kernel\":\"{}\",", kernel);
  for (const EmbeddedFile& file : shipped_files()) {
    for (const std::string_view line : split({file.text, file.size}, '\n')) {
      if (!line.starts_with(prefix)) continue;
      if (auto record = parse_tuning_line(line)) records.push_back(std::move(*record));
    }
  }
  return records;
}

}  // namespace tuning
}  // namespace tma_jit
