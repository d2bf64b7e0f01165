#pragma once
// Tensor maps made inside a kernel: a map that the host encoded is copied to shared memory, its fields are replaced,
// and it is published to global memory. The published map must be in global memory (a workspace, or an allocation of
// the caller), aligned to 128 bytes, one for each block that changes it. PTX ISA 9.0, "tensormap.replace" and
// "tensormap.cp_fenceproxy".
#include "device/ptx/fence.cuh"

namespace tensormap {

// The values of a map's type field, which differ from the driver's CUtensorMapDataType. The last three need Blackwell.
enum class Type {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f32_ftz,
  f64,
  bf16,
  tf32,
  tf32_ftz,
  b4x16,
  b4x16_p64,
  b6x16_p32
};
enum class Interleave { none, b16, b32 };
enum class Swizzle { none, b32, b64, b128 };
enum class Atomicity { b16, b32, b32_flip_b8, b64 };
enum class Fill { zero, nan };

// Copies a map (a kernel parameter, or one in global memory) to shared memory, aligned to 128 bytes. Called by a whole
// warp; afterwards one lane may replace fields.
__device__ inline void copy(CUtensorMap& to, const CUtensorMap& from) {
  if (threadIdx.x % 32 < 16) to.opaque[threadIdx.x % 32] = from.opaque[threadIdx.x % 32];
  __syncwarp();
}

// Each function replaces one field of a map in shared memory. Dimension 0 is the innermost.
__device__ inline void replace_address(CUtensorMap& map, const void* address) {
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(smem_address(&map)),
               "l"(__cvta_generic_to_global(address))
               : "memory");
}
__device__ inline void replace_rank(CUtensorMap& map, u32 rank) {
  asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], %1;" ::"r"(smem_address(&map)), "r"(rank - 1)
               : "memory");
}
// Sets the number of elements of the tensor along a dimension.
template <int Dimension> __device__ inline void replace_dim(CUtensorMap& map, u32 extent) {
  asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], %1, %2;" ::"r"(smem_address(&map)),
               "n"(Dimension), "r"(extent)
               : "memory");
}
// Sets the bytes between indices of a dimension, 1 or above: a multiple of 16.
template <int Dimension> __device__ inline void replace_stride(CUtensorMap& map, u64 bytes) {
  static_assert(Dimension >= 1, "the innermost dimension is contiguous");
  asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], %1, %2;" ::"r"(smem_address(&map)),
               "n"(Dimension - 1), "l"(bytes)
               : "memory");
}
template <int Dimension> __device__ inline void replace_box(CUtensorMap& map, u32 extent) {
  asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], %1, %2;" ::"r"(smem_address(&map)),
               "n"(Dimension), "r"(extent)
               : "memory");
}
template <int Dimension> __device__ inline void replace_step(CUtensorMap& map, u32 elements) {
  asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], %1, %2;" ::"r"(smem_address(&map)),
               "n"(Dimension), "r"(elements)
               : "memory");
}
template <Type T> __device__ inline void replace_type(CUtensorMap& map) {
  asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], %1;" ::"r"(smem_address(&map)),
               "n"(static_cast<int>(T))
               : "memory");
}
template <Interleave I> __device__ inline void replace_interleave(CUtensorMap& map) {
  asm volatile("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], %1;" ::"r"(smem_address(&map)),
               "n"(static_cast<int>(I))
               : "memory");
}
template <Swizzle S> __device__ inline void replace_swizzle(CUtensorMap& map) {
  asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], %1;" ::"r"(smem_address(&map)),
               "n"(static_cast<int>(S))
               : "memory");
}
// Sets the size of the pieces that the 128-byte swizzle moves. Blackwell only.
template <Atomicity A> __device__ inline void replace_atomicity(CUtensorMap& map) {
  asm volatile("tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [%0], %1;" ::"r"(smem_address(&map)),
               "n"(static_cast<int>(A))
               : "memory");
}
template <Fill F> __device__ inline void replace_fill(CUtensorMap& map) {
  asm volatile("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], %1;" ::"r"(smem_address(&map)),
               "n"(static_cast<int>(F))
               : "memory");
}

// Copies the map to global memory and releases it to the tensor map proxy. Called by a whole warp, after one lane has
// replaced fields and a __syncwarp. Others may use it after a barrier (or a flag) and fence::proxy_tensormap_acquire.
__device__ inline void publish(CUtensorMap* to, const CUtensorMap& from) {
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(
          __cvta_generic_to_global(to)),
      "r"(smem_address(&from))
      : "memory");
}

}  // namespace tensormap
