// Whether bytes are a cubin for an architecture. NVRTC reports success for an empty one after a failed compile.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit::compile {

// ELF of 64 bits for EM_CUDA, whole by its own headers, and of the SM that `arch` names. Fails with nvrtc.
[[nodiscard]] Result<void> check_cubin(std::span<const std::byte> cubin, std::string_view arch);

}  // namespace tma_jit::compile
