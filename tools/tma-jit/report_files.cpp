#include "report_files.h"

namespace tma_jit::cli {

extern const EmbeddedFile kReportFiles[];
extern const unsigned long kReportFilesCount;

std::optional<std::string_view> report_file(std::string_view name) {
  for (unsigned long i = 0; i < kReportFilesCount; ++i) {
    if (kReportFiles[i].name == name) return std::string_view(kReportFiles[i].text, kReportFiles[i].size);
  }
  return {};
}

}  // namespace tma_jit::cli
