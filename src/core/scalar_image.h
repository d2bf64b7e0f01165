// The bytes of a scalar argument as the kernel parameter expects them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>
#include <tma_jit/request.h>

namespace tma_jit {

// Returns size_of(type) bytes, little-endian. Floating-point types round to nearest, ties to even. Fails, naming
// `name`, if the type cannot hold the value: too large, or a fraction for an integer type.
[[nodiscard]] Result<std::vector<std::byte>> scalar_image(std::string_view name, DType type, const Scalar& value);

}  // namespace tma_jit
