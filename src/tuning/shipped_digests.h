// Digests of the templates that the library ships, computed when it is built, so that a start computes none.
#pragma once

#include <optional>
#include <string_view>

namespace tma_jit::tuning {

// Returns digest_of a file of Template::embedded, such as "templates/kernels/gemm_wgmma.cu", with the headers that the
// library ships, for plans whose hooks read no tensors. nullopt if the build could not compute it: it was made for
// another machine than the one that built it.
[[nodiscard]] std::optional<std::string_view> shipped_digest(std::string_view file);

}  // namespace tma_jit::tuning
