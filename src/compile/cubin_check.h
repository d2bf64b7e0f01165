// Checks that bytes are a cubin for an architecture, because NVRTC may report success with an empty one after a failed
// compile.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit::compile {

// Returns what is wrong with the bytes, which must be a 64-bit ELF file for EM_CUDA, complete by its own headers, for
// the SM of `arch`: "is cut short"; empty if nothing is.
[[nodiscard]] std::string cubin_fault(std::span<const std::byte> cubin, std::string_view arch);
// Fails with nvrtc if anything is.
[[nodiscard]] Result<void> check_cubin(std::span<const std::byte> cubin, std::string_view arch);

}  // namespace tma_jit::compile
