// Names that a template declares and nothing in it uses.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/kernel_info.h>

namespace tma_jit::cli {

// Returns a message, with file and line, for each type, dim, let and hook of the template's own file that is mentioned
// nowhere else in `text`, the file's, and in no header that it includes. A param may be there for the other files of
// the kernel.
std::vector<std::string> unused_names(const KernelInfo& info, std::string_view text, std::span<const Header> headers);

}  // namespace tma_jit::cli
