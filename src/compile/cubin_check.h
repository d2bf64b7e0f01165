// Checks that bytes are a cubin for an architecture, because NVRTC may report success with an empty one after a failed
// compile.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit::compile {

// Requires a 64-bit ELF file for EM_CUDA, complete by its own headers, for the SM of `arch`. Fails with nvrtc.
[[nodiscard]] Result<void> check_cubin(std::span<const std::byte> cubin, std::string_view arch);

}  // namespace tma_jit::compile
