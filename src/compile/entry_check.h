// Whether what was compiled has the kernel that the manifest names.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

namespace tma_jit::compile {

// Return the names of the functions that an image has, kernels among them; nullopt if its table of symbols cannot be
// read. They are views of the image.
std::optional<std::vector<std::string_view>> functions_of_cubin(std::span<const std::byte> cubin);
std::vector<std::string_view> kernels_of_ptx(std::string_view ptx);

// Fails (compile) if the source's entry is not among the names.
[[nodiscard]] Result<void> check_entry(const Source& source, const std::vector<std::string_view>& names);

}  // namespace tma_jit::compile
