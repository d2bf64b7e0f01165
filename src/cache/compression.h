// zstd around a payload: one frame that knows its own size and checks its own content.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace tma_jit::cache {

// Level 3, at which a cubin shrinks to between a half and a quarter. Empty unless a tenth or more is saved.
std::vector<std::byte> compressed(std::span<const std::byte> raw);

// Exactly one frame of exactly `raw_bytes`; else why not. Allocates no more than `raw_bytes`, and nothing at all before
// the frame's own statement of its size agrees.
[[nodiscard]] tl::expected<std::vector<std::byte>, std::string> decompressed(std::span<const std::byte> frame,
                                                                             std::size_t raw_bytes);

}  // namespace tma_jit::cache
