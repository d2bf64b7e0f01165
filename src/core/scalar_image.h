// A scalar argument as the bytes that the kernel parameter takes.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>
#include <tma_jit/request.h>

namespace tma_jit {

// Little-endian, size_of(type) bytes. Floating-point types round to the nearest, ties to even. Fails, naming `name`,
// where the type has no such value: too large, or a fraction for an integer type.
[[nodiscard]] Result<std::vector<std::byte>> scalar_image(std::string_view name, DType type, const Scalar& value);

}  // namespace tma_jit
