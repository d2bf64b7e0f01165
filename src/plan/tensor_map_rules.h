// The demands of cuTensorMapEncodeTiled (CUDA Driver API 13.0, "Tensor Map Object Management") in words, so that a
// tensor the driver would answer with a bare CUDA_ERROR_INVALID_VALUE gets the value, the limit and the nearest fix.
#pragma once

#include <cstdint>
#include <string_view>

#include <tma_jit/plan.h>

namespace tma_jit::planning {

// Bytes a swizzle's pattern spans; 0 for none.
std::uint32_t span_of(Swizzle swizzle);

// What the map's address and strides must be multiples of: 32 with a 32-byte interleave, else 16.
std::uint32_t alignment_of(const TensorMapSpec& spec);

// Bytes of shared memory that one box fills, steps considered.
std::uint64_t box_bytes(const TensorMapSpec& spec);

// The first rule that `spec` breaks, as "NAME: ...". Boxes and strides are named outermost first, as templates write
// them. An address of 0 stands for "not known yet" and passes.
Result<void> check_tensor_map(const TensorMapSpec& spec, std::uint64_t address, std::string_view name);

}  // namespace tma_jit::planning
