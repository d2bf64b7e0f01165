#pragma once
// tcgen05: the matrix products of sm_100a and sm_103a, with accumulators in tensor memory (tensor_memory.cuh). One
// thread issues them; they run asynchronously, and products of the same shape in order. PTX ISA 9.0, "TensorCore 5th
// Generation Family Instructions". `Blocks` is PTX's cta_group: 1, or 2 for a pair of blocks of a cluster, of which
// only the one with even rank issues products.
#include "device/ptx/matrix_descriptor.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/text.cuh"

namespace tcgen05 {

// Distinguishes this unit's descriptors from those of wgmma.
constexpr u64 kVersion = u64{1} << 46;

// Returns the descriptor of a tile in shared memory in this unit's format; the parameters are those of wgmma's. Swizzle
// 132 is the 128-byte swizzle that moves 32-byte pieces, which MN-major 32-bit operands need.
template <int Swizzle> __device__ inline u64 descriptor(u32 address, u32 leading, u32 stride, u32 base_offset = 0) {
  if constexpr (Swizzle == 132)
    return matrix::descriptor<0>(address, leading, stride, base_offset) | kVersion | u64{1} << 61;
  else
    return matrix::descriptor<Swizzle>(address, leading, stride, base_offset) | kVersion;
}

// The 32-bit instruction descriptor. Type numbers depend on the kind: f16 0 f16, 1 bf16; tf32 2; f8f6f4 and mxf8f6f4 0
// e4m3, 1 e5m2, 3 e2m3, 4 e3m2, 5 e2m1; mxf4 and mxf4nvf4 1 e2m1; i8 0 u8, 1 s8.
struct Instruction {
  u32 bits = 0;
  __device__ constexpr Instruction(int m, int n, u32 a, u32 b)
      : bits(a << 7 | b << 10 | u32(n) / 8 << 17 | u32(m) / 16 << 24) {}
  // Dense kinds: 0 f16, 1 f32, 2 s32.
  __device__ constexpr Instruction& accumulators(u32 type) { return set(type << 4); }
  __device__ constexpr Instruction& mn_major(bool a, bool b) { return set(u32{a} << 15 | u32{b} << 16); }
  __device__ constexpr Instruction& negate(bool a, bool b) { return set(u32{a} << 13 | u32{b} << 14); }
  __device__ constexpr Instruction& saturate() { return set(1 << 3); }  // only kind i8
  // Block-scaled kinds: the factors' type (ue8m0, else ue4m3), and the byte of their word that contains them.
  __device__ constexpr Instruction& scales(bool ue8m0, u32 a_byte, u32 b_byte) {
    return set(u32{ue8m0} << 23 | b_byte << 4 | a_byte << 29);
  }

 private:
  __device__ constexpr Instruction& set(u32 more) {
    bits |= more;
    return *this;
  }
};

// PTX's kinds. The text of a scaled kind includes the number of elements of K that share a factor.
using F16 = ptx::Text<'f', '1', '6'>;
using Tf32 = ptx::Text<'t', 'f', '3', '2'>;
using F8f6f4 = ptx::Text<'f', '8', 'f', '6', 'f', '4'>;
using I8 = ptx::Text<'i', '8'>;  // sm_100a only
using Mxf8f6f4 = ptx::Text<'m', 'x', 'f', '8', 'f', '6', 'f', '4', '.', 'b', 'l', 'o', 'c', 'k', '_', 's', 'c', 'a',
                           'l', 'e', '.', 'b', 'l', 'o', 'c', 'k', '3', '2'>;
using Mxf4 = ptx::Text<'m', 'x', 'f', '4', '.', 'b', 'l', 'o', 'c', 'k', '_', 's', 'c', 'a', 'l', 'e', '.', 'b', 'l',
                       'o', 'c', 'k', '3', '2'>;
using Mxf4nvf4Block16 = ptx::Text<'m', 'x', 'f', '4', 'n', 'v', 'f', '4', '.', 'b', 'l', 'o', 'c', 'k', '_', 's', 'c',
                                  'a', 'l', 'e', '.', 'b', 'l', 'o', 'c', 'k', '1', '6'>;
using Mxf4nvf4Block32 = ptx::Text<'m', 'x', 'f', '4', 'n', 'v', 'f', '4', '.', 'b', 'l', 'o', 'c', 'k', '_', 's', 'c',
                                  'a', 'l', 'e', '.', 'b', 'l', 'o', 'c', 'k', '3', '2'>;

// D (+)= A * B^T, with A and B in shared memory. `d` is an address in tensor memory.
template <class Kind, int Blocks = 1>
__device__ inline void mma(u32 d, u64 a, u64 b, Instruction what, bool accumulate) {
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.b32 p, %4, 0;\n"
      " tcgen05.mma.cta_group::%5.kind::%6 [%0], %1, %2, %3, p;\n}" ::"r"(d),
      "l"(a), "l"(b), "r"(what.bits), "r"(int{accumulate}), "C"(ptx::Number<Blocks>::text), "C"(Kind::text)
      : "memory");
}
// The same with A in tensor memory, at address `a`.
template <class Kind, int Blocks = 1>
__device__ inline void mma_ts(u32 d, u32 a, u64 b, Instruction what, bool accumulate) {
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.b32 p, %4, 0;\n"
      " tcgen05.mma.cta_group::%5.kind::%6 [%0], [%1], %2, %3, p;\n}" ::"r"(d),
      "r"(a), "l"(b), "r"(what.bits), "r"(int{accumulate}), "C"(ptx::Number<Blocks>::text), "C"(Kind::text)
      : "memory");
}
// Block-scaled: the factors are in tensor memory, where tensor_memory::cp put them.
template <class Kind, int Blocks = 1>
__device__ inline void mma_scaled(u32 d, u64 a, u64 b, Instruction what, u32 scale_a, u32 scale_b, bool accumulate) {
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.b32 p, %6, 0;\n"
      " tcgen05.mma.cta_group::%7.kind::%8 [%0], %1, %2, %3, [%4], [%5], p;\n}" ::"r"(d),
      "l"(a), "l"(b), "r"(what.bits), "r"(scale_a), "r"(scale_b), "r"(int{accumulate}), "C"(ptx::Number<Blocks>::text),
      "C"(Kind::text)
      : "memory");
}
// Weight-stationary: M may be 32; for one block only.
template <class Kind> __device__ inline void mma_ws(u32 d, u64 a, u64 b, Instruction what, bool accumulate) {
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.b32 p, %4, 0;\n"
      " tcgen05.mma.ws.cta_group::1.kind::%5 [%0], %1, %2, %3, p;\n}" ::"r"(d),
      "l"(a), "l"(b), "r"(what.bits), "r"(int{accumulate}), "C"(Kind::text)
      : "memory");
}

// Arrives once on `barrier` when everything that this thread has issued before is complete. Implies fence_before.
template <int Blocks = 1> __device__ inline void commit(Barrier& barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::%1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(smem_address(&barrier)),
      "C"(ptx::Number<Blocks>::text)
      : "memory");
}
// The same on the barriers at that offset in every block of the cluster whose bit is set.
template <int Blocks = 1> __device__ inline void commit_multicast(Barrier& barrier, u16 blocks) {
  asm volatile(
      "tcgen05.commit.cta_group::%2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
          smem_address(&barrier)),
      "h"(blocks), "C"(ptx::Number<Blocks>::text)
      : "memory");
}

// Order this unit's asynchronous work against a barrier of threads: one before the barrier, one after it.
__device__ inline void fence_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ inline void fence_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

}  // namespace tcgen05
