// The templates and device headers that are compiled into the library.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>

#include "base/embedded_file.h"

namespace tma_jit::templates {

// Returns the files in templates/.
std::span<const EmbeddedFile> embedded_templates();

// Returns whether a file is a kernel or a probe, and not a header.
bool is_template(const EmbeddedFile& file);

// Returns whether a file is the template with that stem.
bool is_named(const EmbeddedFile& file, std::string_view stem);

// Returns the file's name as Template::file has it.
std::string template_name(const EmbeddedFile& file);

// Returns the kernel that a text declares, without parsing the rest; "" if there is none.
std::string_view declared_kernel(std::string_view text);

// Returns the architectures that a text's first `arch` line lists, without parsing the rest. The library's own
// templates have one such line each.
std::vector<std::string> declared_archs(std::string_view text);

// The kernel of a template. Decompresses nothing if the build has found the name.
std::string_view declared_kernel(const EmbeddedFile& file);

// Returns the text of a header among the files by its name in an #include; fails with not_found and a suggestion.
[[nodiscard]] Result<std::string> header_in(std::span<const EmbeddedFile> files, std::string_view name);

}  // namespace tma_jit::templates
