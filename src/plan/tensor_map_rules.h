// The demands of cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and cuTensorMapEncodeIm2colWide (CUDA Driver API 13.0,
// "Tensor Map Object Management") in words, so that a tensor the driver would answer with a bare
// CUDA_ERROR_INVALID_VALUE gets the value, the limit and the nearest fix. docs/tensor-maps.md lists where they follow
// the driver rather than its documentation.
#pragma once

#include <cstdint>
#include <string_view>

#include <tma_jit/error.h>
#include <tma_jit/tensor_map.h>

namespace tma_jit::plan {

// What the map's address and strides must be multiples of: 32 with a 32-byte interleave and for packed values that are
// padded in shared memory, else 16.
std::uint32_t alignment_of(const TensorMapSpec& spec);

// Bytes of shared memory that one box fills, element steps and the padding of packed values considered.
std::uint64_t box_bytes(const TensorMapSpec& spec);

// Where a map is used.
struct MapPlace {
  std::uint64_t address = 0;   // 0 stands for "not known yet" and passes
  int compute_capability = 0;  // of the device: 90, 100, 120, ...
};

// The first rule that `spec` breaks, as "NAME: ...". Boxes and strides are named outermost first, as templates write
// them.
[[nodiscard]] Result<void> check_tensor_map(const TensorMapSpec& spec, const MapPlace& place, std::string_view name);

}  // namespace tma_jit::plan
