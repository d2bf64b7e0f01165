#pragma once
// wgmma.mma_async: D[64 x N] (+)= A[64 x K] * B[N x K]^T by a warpgroup, where K is 32 bytes; accumulators in
// registers, B in shared memory, A in either. sm_90a. This file has f32 accumulators and A in shared memory;
// wgmma_registers.cuh adds A in registers, wgmma_integers.cuh s32 accumulators, wgmma_words.cuh both for s32 and f16.
// Each takes several milliseconds of a compile. PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
// Instructions".
#include "device/ptx/matrix_descriptor.cuh"
#include "device/ptx/register_lists.cuh"
#include "device/ptx/text.cuh"
#include "device/ptx/wgmma_counts.cuh"

namespace wgmma {

__device__ inline void fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Returns when at most Pending of this warpgroup's committed groups are incomplete.
template <int Pending> __device__ inline void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

enum class Major { k, mn };

// The immediates of a product: the major order of each operand (only 16-bit types have a choice), and a factor of 1 or
// -1 for each (only floating-point types).
template <Major A = Major::k, Major B = Major::k, int ScaleA = 1, int ScaleB = 1> struct Mode {};

// The immediates after the predicate, as PTX writes them.
template <class M, bool Float, bool Sixteen, bool Shared> struct Immediates;
template <Major A, Major B, int ScaleA, int ScaleB, bool Sixteen, bool Shared>
struct Immediates<Mode<A, B, ScaleA, ScaleB>, false, Sixteen, Shared> : ptx::Text<> {
  static_assert(A == Major::k && B == Major::k && ScaleA == 1 && ScaleB == 1, "integer products have no immediates");
};
template <int Scale> constexpr char kSign = Scale == 1 ? ' ' : '-';
template <Major Order> constexpr char kOrder = Order == Major::k ? '0' : '1';
template <Major A, Major B, int ScaleA, int ScaleB, bool Shared>
struct Immediates<Mode<A, B, ScaleA, ScaleB>, true, false, Shared>
    : ptx::Text<',', kSign<ScaleA>, '1', ',', kSign<ScaleB>, '1'> {
  static_assert(A == Major::k && B == Major::k, "only 16-bit operands can be MN-major");
};
template <Major A, Major B, int ScaleA, int ScaleB>
struct Immediates<Mode<A, B, ScaleA, ScaleB>, true, true, true>
    : ptx::Text<',', kSign<ScaleA>, '1', ',', kSign<ScaleB>, '1', ',', kOrder<A>, ',', kOrder<B>> {};
template <Major A, Major B, int ScaleA, int ScaleB>
struct Immediates<Mode<A, B, ScaleA, ScaleB>, true, true, false>
    : ptx::Text<',', kSign<ScaleA>, '1', ',', kSign<ScaleB>, '1', ',', kOrder<B>> {
  static_assert(A == Major::k, "A in registers is K-major");
};

// The asm statements, by the register type of an accumulator and the number per thread: both operands in shared memory,
// or A in registers, which wgmma_registers.cuh adds.
template <class Register, int Count> struct Issue;
template <class Register, int Count> struct IssueRegisters;

#define WGMMA_F(x) "+f"(x)
#define WGMMA_R(x) "+r"(x)
#define WGMMA_CONSTRAINT_f32 WGMMA_F
#define WGMMA_CONSTRAINT_u32 WGMMA_R
#define WGMMA_APPLY(list, constraint) list(constraint)
// clang-format off
#define WGMMA_HEAD(PRED, N, K, D, TA, TB, COUNT) \
  "{\n .reg .pred p;\n setp.ne.b32 p, " #PRED ", 0;\n wgmma.mma_async.sync.aligned.m64n" #N "k" #K "." #D "." #TA "." #TB \
  " {" REGISTER_NAMES_##COUNT "}, "
#define WGMMA_TEXTS "C"(F::N::text), "C"(F::K::text), "C"(F::D::text), "C"(F::A::text), "C"(F::B::text)
#define WGMMA_SHARED(REGISTER, COUNT, A, B, PRED, N, K, D, TA, TB, TAIL, A1, A2, A3) \
  template <> struct Issue<REGISTER, COUNT> { \
    template <class F, class Tail> __device__ static void ss(REGISTER (&d)[COUNT], u64 a, u64 b, bool accumulate) { \
      asm volatile(WGMMA_HEAD(PRED, N, K, D, TA, TB, COUNT) #A ", " #B ", p" #TAIL ";\n}" \
                   : WGMMA_APPLY(REGISTER_OPERANDS_##COUNT, WGMMA_CONSTRAINT_##REGISTER) \
                   : "l"(a), "l"(b), "r"(int{accumulate}), WGMMA_TEXTS, "C"(Tail::text)); \
    } \
  };
// clang-format on
WGMMA_OF_F32(WGMMA_SHARED)

// Returns whether N is legal: multiples of 8 up to 256; for integers, above 32 only multiples of 16, and 24.
template <class D> __device__ constexpr bool legal_n(int n) {
  if (n < 8 || n > 256 || n % 8 != 0) return false;
  return !ptx::kSame<D, s32> || n <= 24 || n % 16 == 0;
}

// One product instruction with `Registers` accumulators of type Register per thread: f32, or a word that is an s32 or a
// pair of f16. With g = t % 32 / 4, q = t % 4 and warp w = t / 32, thread t of the warpgroup holds in elements 4j and
// 4j + 1 row 16w + g, columns 8j + 2q and the next, and in 4j + 2 and 4j + 3 the same columns of row 16w + g + 8. d = a
// * b, plus d if `accumulate`. A wgmma::fence must precede the first product, and each product after other instructions
// accessed d or a.
template <int Columns, class TA, class TB = TA, class TD = f32> struct Mma {
  static constexpr bool kSixteen = ptx::kOneOf<TA, bf16, f16>;
  static constexpr bool kInteger = ptx::kOneOf<TA, s8, u8>;
  static constexpr int kDepth = 32 / sizeof(TA);  // elements of K
  static_assert(ptx::kOneOf<TA, bf16, f16, tf32, e4m3, e5m2, s8, u8>, "wgmma has no such type");
  static_assert(kInteger          ? ptx::kOneOf<TB, s8, u8>
                : sizeof(TA) == 1 ? ptx::kOneOf<TB, e4m3, e5m2>
                                  : ptx::kSame<TA, TB>,
                "wgmma multiplies equal types, or e4m3 and e5m2, or s8 and u8");
  static_assert(kInteger ? ptx::kSame<TD, s32>
                         : ptx::kSame<TD, f32> || (ptx::kSame<TD, f16> && ptx::kOneOf<TA, f16, e4m3, e5m2>),
                "s32 for integers, f32 for the others, f16 for f16 and 8-bit floats");
  static_assert(legal_n<TD>(Columns), "wgmma has no such N");

  static constexpr int registers = ptx::kSame<TD, f16> ? Columns / 4 : Columns / 2;
  template <class T, bool Float> struct RegisterOf { using type = u32; };
  template <class T> struct RegisterOf<T, true> { using type = f32; };
  using Register = typename RegisterOf<TD, ptx::kSame<TD, f32>>::type;

  struct Form {
    using N = ptx::Number<Columns>;
    using K = ptx::Number<kDepth>;
    using D = ptx::Name<TD>;
    using A = ptx::Name<TA>;
    using B = ptx::Name<TB>;
  };

  // A and B in shared memory, given by their descriptors.
  template <class M = Mode<>> __device__ static void ss(Register (&d)[registers], u64 a, u64 b, bool accumulate) {
    Issue<Register, registers>::template ss<Form, Immediates<M, !kInteger, kSixteen, true>>(d, a, b, accumulate);
  }
  // A in registers, in 32-bit words: word 0 is row g, bytes 4q to 4q + 3 of K; word 1 row g + 8; words 2 and 3 the same
  // of the second 16 bytes of K. The words must not change before the product has been waited for.
  template <class M = Mode<>>
  __device__ static void rs(Register (&d)[registers], const u32 (&a)[4], u64 b, bool accumulate) {
    IssueRegisters<Register, registers>::template rs<Form, Immediates<M, !kInteger, kSixteen, false>>(d, a, b,
                                                                                                      accumulate);
  }
};

}  // namespace wgmma
