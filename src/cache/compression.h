// Compression of a payload by zstd, as one frame that records its size and a checksum of its content.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace tma_jit::cache {

// Compresses at level 3, which reduces a cubin to between a quarter and a half. Returns an empty vector unless it saves
// at least a tenth.
std::vector<std::byte> compressed(std::span<const std::byte> raw);

// Decompresses exactly one frame of exactly `raw_bytes`, or returns the reason for failure. Allocates at most
// `raw_bytes`, and only after the size recorded in the frame agrees.
[[nodiscard]] tl::expected<std::vector<std::byte>, std::string> decompressed(std::span<const std::byte> frame,
                                                                             std::size_t raw_bytes);

}  // namespace tma_jit::cache
