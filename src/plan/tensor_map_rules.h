// The requirements of cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and cuTensorMapEncodeIm2colWide (CUDA Driver API
// 13.0, "Tensor Map Object Management"), checked with errors that give the value, the limit and the nearest fix, where
// the driver returns only CUDA_ERROR_INVALID_VALUE. docs/tensor-maps.md lists the rules that follow the driver's
// behaviour rather than its documentation.
#pragma once

#include <cstdint>
#include <string_view>

#include <tma_jit/error.h>
#include <tma_jit/tensor_map.h>

namespace tma_jit::plan {

// Returns what the map's address and strides must be multiples of, in bytes: 32 with a 32-byte interleave and for
// packed values that are padded in shared memory, else 16.
std::uint32_t alignment_of(const TensorMapSpec& spec);

// Returns the bytes of shared memory that one box fills, including element steps and the padding of packed values.
std::uint64_t box_bytes(const TensorMapSpec& spec);

// The use of a map: its address and device.
struct MapTarget {
  std::uint64_t address = 0;   // 0 if not known yet; passes
  int compute_capability = 0;  // of the device: 90, 100, 120 and so on
};

// Fails at the first rule that `spec` violates; the message is "NAME: ...". Boxes and strides are listed outermost
// first, as templates write them.
[[nodiscard]] Result<void> check_tensor_map(const TensorMapSpec& spec, const MapTarget& target, std::string_view name);

// Likewise, but checks only the rules about the tensor's memory: its address, extents and strides.
[[nodiscard]] Result<void> check_map_memory(const TensorMapSpec& spec, const MapTarget& target, std::string_view name);

}  // namespace tma_jit::plan
