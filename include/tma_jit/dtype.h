// Element types of tensors and scalars, with the names that templates use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <tma_jit/export.h>

namespace tma_jit {

enum class DType : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2 };

// Returns the size of one element in bytes.
TMA_JIT_API std::size_t size_of(DType type);
TMA_JIT_API std::string_view name_of(DType type);
TMA_JIT_API std::optional<DType> dtype_named(std::string_view name);
// Returns the bits of a floating-point type's fraction; 0 of an integer type.
TMA_JIT_API int fraction_bits(DType type);
TMA_JIT_API bool is_floating_point(DType type);

}  // namespace tma_jit
