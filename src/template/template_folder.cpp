#include "template/template_folder.h"

#include <algorithm>
#include <system_error>

#include "core/failure.h"

namespace tma_jit::templates {

namespace fs = std::filesystem;

namespace {

tl::unexpected<Error> folder_failure(const fs::path& folder, const std::error_code& reason) {
  return failure(ErrorCode::io, "cannot read the template folder {}: {}", folder.string(), reason.message());
}

// Returns the *.cu files directly in a folder, by name. A missing folder is an error unless it is optional.
Result<std::vector<fs::path>> kernel_files(const fs::path& folder, bool optional) {
  std::vector<fs::path> files;
  std::error_code reason;
  if (optional && !fs::exists(folder, reason)) return files;
  fs::directory_iterator entry(folder, reason);
  if (reason) return folder_failure(folder, reason);
  for (; entry != fs::directory_iterator(); entry.increment(reason)) {
    std::error_code ignored;
    const fs::file_status status = entry->status(ignored);
    // A folder or pipe is not a template. A dangling link is kept, so that reading it reports the error.
    const bool file = fs::is_regular_file(status) || !fs::exists(status);
    if (file && entry->path().extension() == ".cu") files.push_back(entry->path());
    if (reason) return folder_failure(folder, reason);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<std::vector<fs::path>> template_files(const fs::path& folder) {
  TMA_JIT_ASSIGN(std::vector<fs::path> files, kernel_files(folder, false));
  for (const char* name : {"kernels", "probes"}) {
    TMA_JIT_ASSIGN(const std::vector<fs::path> below, kernel_files(folder / name, true));
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

bool is_plain_relative(const fs::path& name) {
  return name.is_relative() &&
         std::none_of(name.begin(), name.end(), [](const fs::path& part) { return part == ".."; });
}

std::optional<fs::path> file_in(const std::vector<fs::path>& folders, const fs::path& name) {
  if (!is_plain_relative(name)) return std::nullopt;
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / name, ignored)) return folder / name;
  }
  return std::nullopt;
}

}  // namespace tma_jit::templates
