#pragma once
// Reduces a tile into a tensor, in L2: each element is a relaxed atomic operation at GPU scope. The element type is the
// tensor map's: add takes u32 s32 u64 f32 f16 bf16; min and max u32 s32 u64 s64 f16 bf16; inc and dec u32; the bitwise
// ones u32 s32 u64 (with s64, an illegal instruction on an H200). Sums of f32 flush subnormals. PTX ISA 9.0,
// "cp.reduce.async.bulk.tensor".
#include "device/ptx/reduction.cuh"
#include "device/ptx/tma.cuh"

namespace tma {

#define TMA_JIT_TENSOR_REDUCE(OP)                                                                                \
  TMA_JIT_BY_RANK("cp.reduce.async.bulk.tensor", ".global.shared::cta." OP ".tile.bulk_group [%5, ", "], [%6];", \
                  "l"(&map), "r"(smem_address(tile)))
#define TMA_JIT_TENSOR_REDUCE_HINTED(OP)                                                                            \
  TMA_JIT_BY_RANK("cp.reduce.async.bulk.tensor", ".global.shared::cta." OP ".tile.bulk_group.L2::cache_hint [%5, ", \
                  "], [%6], %7;", "l"(&map), "r"(smem_address(tile)), "l"(policy.bits))
#define TMA_JIT_EACH_REDUCTION(REDUCE)            \
  if constexpr (R == Reduction::add) {            \
    REDUCE("add");                                \
  } else if constexpr (R == Reduction::min) {     \
    REDUCE("min");                                \
  } else if constexpr (R == Reduction::max) {     \
    REDUCE("max");                                \
  } else if constexpr (R == Reduction::inc) {     \
    REDUCE("inc");                                \
  } else if constexpr (R == Reduction::dec) {     \
    REDUCE("dec");                                \
  } else if constexpr (R == Reduction::bit_and) { \
    REDUCE("and");                                \
  } else if constexpr (R == Reduction::bit_or) {  \
    REDUCE("or");                                 \
  } else {                                        \
    REDUCE("xor");                                \
  }

// Reduces as part of the group committed next, like a store.
template <Reduction R, int Rank>
__device__ inline void reduce(const CUtensorMap& map, const void* tile, const int (&at)[Rank]) {
  TMA_JIT_EACH_REDUCTION(TMA_JIT_TENSOR_REDUCE)
}
template <Reduction R, int Rank>
__device__ inline void reduce(const CUtensorMap& map, const void* tile, const int (&at)[Rank], l2::Policy policy) {
  TMA_JIT_EACH_REDUCTION(TMA_JIT_TENSOR_REDUCE_HINTED)
}

}  // namespace tma
