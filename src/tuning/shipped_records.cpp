#include "tuning/shipped_records.h"

#include "base/text.h"
#include "tuning/problem_key.h"

namespace tma_jit {

// cache/tuned/*.jsonl, embedded by src/CMakeLists.txt.
extern const EmbeddedArchive kShippedRecords;

namespace tuning {

std::span<const EmbeddedFile> shipped_files() {
  static const std::vector<EmbeddedFile> files = kShippedRecords.files();
  return files;
}

SharedLayer shipped_layer(std::string_view device) {
  auto layer = std::make_shared<RecordLayer>("shipped");
  for (const EmbeddedFile& file : shipped_files()) {
    if (file.subject != nullptr && !same_model(file.subject, device)) continue;
    for (const std::string_view line : split(file.text(), '\n')) {
      if (line.starts_with('{')) layer->add(line);
    }
  }
  layer->sort();
  return layer;
}

}  // namespace tuning
}  // namespace tma_jit
