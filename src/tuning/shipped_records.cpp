#include "tuning/shipped_records.h"

#include "base/text.h"

namespace tma_jit {

// cache/tuned/*.jsonl, embedded by src/CMakeLists.txt.
extern const EmbeddedFile kShippedRecords[];
extern const unsigned long kShippedRecordsCount;

namespace tuning {

std::span<const EmbeddedFile> shipped_files() {
  return {kShippedRecords, kShippedRecordsCount};
}

SharedLayer shipped_layer() {
  auto layer = std::make_shared<RecordLayer>("shipped");
  for (const EmbeddedFile& file : shipped_files()) {
    for (const std::string_view line : split({file.text, file.size}, '\n')) {
      if (line.starts_with('{')) layer->add(line);
    }
  }
  layer->sort();
  return layer;
}

}  // namespace tuning
}  // namespace tma_jit
