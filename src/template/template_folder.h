// Folders of templates: kernels as *.cu or kernels/*.cu, probes as probes/*.cu, and headers below device/.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit::templates {

// Returns the kernels and probes of a folder. Fails with io if the folder cannot be read.
[[nodiscard]] Result<std::vector<std::filesystem::path>> template_files(const std::filesystem::path& folder);

// Returns whether a name is relative and does not lead out of a folder.
bool is_plain_relative(const std::filesystem::path& name);

// Returns the file of that name below the first folder that has one.
std::optional<std::filesystem::path> file_in(const std::vector<std::filesystem::path>& folders,
                                             const std::filesystem::path& name);

}  // namespace tma_jit::templates
