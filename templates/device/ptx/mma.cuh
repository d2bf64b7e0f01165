#pragma once
// mma.sync: D[M x N] = A[M x K] * B[N x K]^T + D by one warp, for every dense shape and type, with operands in
// registers. PTX ISA 9.0, "Warp Level Matrix Multiply-Accumulate Instructions: mma". Omits m8n8k4 of f16, which is
// specific to sm_70; block-scaled products are in mma_block_scale.cuh.
#include "device/ptx/text.cuh"

namespace mma {

// Types that exist only in products. Operands narrower than a byte are packed, the lowest k in the lowest bits; in
// products of kind f8f6f4, e3m2 and e2m3 are in the low six bits of a byte and e2m1 in bits 2 to 5.
struct s4 {};
struct u4 {};
struct b1 {};
struct e3m2 {};
struct e2m3 {};
struct e2m1 {};

template <class T> constexpr int kBits = sizeof(T) * 8;
template <> constexpr int kBits<s4> = 4;
template <> constexpr int kBits<u4> = 4;
template <> constexpr int kBits<b1> = 1;

// Qualifiers of a product beyond its shape and types: between the layouts and the types, and at the end.
using None = ptx::Text<>;
using Satfinite = ptx::Text<'.', 's', 'a', 't', 'f', 'i', 'n', 'i', 't', 'e'>;  // s32 sums saturate instead of wrapping
using F8f6f4 = ptx::Text<'.', 'k', 'i', 'n', 'd', ':', ':', 'f', '8', 'f', '6', 'f', '4'>;  // sm_120a
using XorPopc = ptx::Text<'.', 'x', 'o', 'r', '.', 'p', 'o', 'p', 'c'>;                     // b1: number of differing
                                                                                            // bits
using AndPopc = ptx::Text<'.', 'a', 'n', 'd', '.', 'p', 'o', 'p', 'c'>;                     // b1: number of bits set in
                                                                                            // both

// The asm statements, by the register types of the operands and the number of registers of each.
template <class RegisterD, int D, class RegisterAB, int A, int B> struct Issue;

#define MMA_TEXTS                                                                                               \
  "C"(F::M::text), "C"(F::N::text), "C"(F::K::text), "C"(F::Qualifier::text), "C"(F::D::text), "C"(F::A::text), \
      "C"(F::B::text), "C"(F::Operation::text)
#define MMA_HEAD(m, n, k, qualifier, d, a, b, operation) \
  "mma.sync.aligned.m%" #m "n%" #n "k%" #k ".row.col%" #qualifier ".%" #d ".%" #a ".%" #b ".%" #d "%" #operation
#define MMA_D2(C) C(d[0]), C(d[1])
#define MMA_D4(C) C(d[0]), C(d[1]), C(d[2]), C(d[3])
#define MMA_IN_F(x) "+f"(x)
#define MMA_IN_R(x) "+r"(x)
#define MMA_IN_D(x) "+d"(x)
// clang-format off
#define MMA_DEFINE(REGISTER_D, D, REGISTER, A, B, HEAD, OPERANDS, OUT, ...) \
  template <> struct Issue<REGISTER_D, D, REGISTER, A, B> { \
    template <class F> \
    __device__ static void multiply(REGISTER_D (&d)[D], const REGISTER (&a)[A], const REGISTER (&b)[B]) { \
      asm(HEAD OPERANDS : OUT : __VA_ARGS__, MMA_TEXTS); \
    } \
  };
#define MMA_DEFINE_WORDS(REGISTER_D, C) \
  MMA_DEFINE(REGISTER_D, 4, u32, 2, 1, MMA_HEAD(7, 8, 9, 10, 11, 12, 13, 14), \
             " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};", MMA_D4(C), "r"(a[0]), "r"(a[1]), "r"(b[0])) \
  MMA_DEFINE(REGISTER_D, 4, u32, 4, 2, MMA_HEAD(10, 11, 12, 13, 14, 15, 16, 17), \
             " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};", MMA_D4(C), \
             "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
MMA_DEFINE_WORDS(f32, MMA_IN_F)
MMA_DEFINE_WORDS(u32, MMA_IN_R)
MMA_DEFINE(u32, 2, u32, 1, 1, MMA_HEAD(4, 5, 6, 7, 8, 9, 10, 11), " {%0, %1}, {%2}, {%3}, {%0, %1};", MMA_D2(MMA_IN_R),
           "r"(a[0]), "r"(b[0]))
MMA_DEFINE(u32, 2, u32, 2, 1, MMA_HEAD(5, 6, 7, 8, 9, 10, 11, 12), " {%0, %1}, {%2, %3}, {%4}, {%0, %1};",
           MMA_D2(MMA_IN_R), "r"(a[0]), "r"(a[1]), "r"(b[0]))
MMA_DEFINE(u32, 2, u32, 4, 2, MMA_HEAD(8, 9, 10, 11, 12, 13, 14, 15),
           " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};", MMA_D2(MMA_IN_R), "r"(a[0]), "r"(a[1]), "r"(a[2]),
           "r"(a[3]), "r"(b[0]), "r"(b[1]))
MMA_DEFINE(f64, 2, f64, 1, 1, MMA_HEAD(4, 5, 6, 7, 8, 9, 10, 11), " {%0, %1}, {%2}, {%3}, {%0, %1};", MMA_D2(MMA_IN_D),
           "d"(a[0]), "d"(b[0]))
MMA_DEFINE(f64, 4, f64, 2, 1, MMA_HEAD(7, 8, 9, 10, 11, 12, 13, 14),
           " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};", MMA_D4(MMA_IN_D), "d"(a[0]), "d"(a[1]), "d"(b[0]))
MMA_DEFINE(f64, 4, f64, 4, 2, MMA_HEAD(10, 11, 12, 13, 14, 15, 16, 17),
           " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};", MMA_D4(MMA_IN_D), "d"(a[0]), "d"(a[1]),
           "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]))
MMA_DEFINE(f64, 4, f64, 8, 4, MMA_HEAD(16, 17, 18, 19, 20, 21, 22, 23),
           " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};",
           MMA_D4(MMA_IN_D), "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
           "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]))
// clang-format on

// Returns whether PTX has the product: its shapes for each type of A.
template <class A> __device__ constexpr bool has_shape(int m, int n, int k) {
  const bool sixteen = m == 16 && n == 8, eight = m == 8 && n == 8;
  if (ptx::kSame<A, f64>) return (eight && k == 4) || (sixteen && (k == 4 || k == 8 || k == 16));  // m16: sm_90
  const int row = k * kBits<A> / 8;                                                                // bytes of K
  if (ptx::kOneOf<A, s8, u8, s4, u4, b1>) return (sixteen && (row == 16 || row == 32)) || (eight && row == 16);
  if (ptx::kOneOf<A, e3m2, e2m3, e2m1>) return sixteen && k == 32;
  return sixteen && (row == 16 || row == 32);
}

// One product. Operands are arrays of 32-bit words (f64s for f64). With g = lane / 4 and q = lane % 4, word i of A
// holds 4 bytes of row g + 8 * (i % 2), or of row g if M is 8, starting at byte 4q of the (i / 2)-th 16 bytes of K;
// word i of B holds 4 bytes of column g, starting at byte 4q of the i-th 16 bytes of K. For f64, element i of A is row
// g + 8 * (i % 2), k = q + 4 * (i / 2), and of B column g, k = q + 4i. Accumulators 0 and 1 are row g, columns 2q and
// the next; 2 and 3 are those of row g + 8; two f16 share a word.
template <int Rows, int Columns, int Depth, class TA, class TB = TA, class TD = f32, class Asked = None,
          class Last = None>
struct Mma {
  static_assert(has_shape<TA>(Rows, Columns, Depth), "mma.sync has no such shape for this type");
  static constexpr bool kDouble = ptx::kSame<TA, f64>;
  template <bool Yes, class X, class Y> struct Choice { using type = X; };
  template <class X, class Y> struct Choice<false, X, Y> { using type = Y; };
  using Register = typename Choice<kDouble, f64, u32>::type;
  using Accumulator = typename Choice<ptx::kOneOf<TD, f32, f64>, TD, u32>::type;
  static constexpr int kUnit = 32 * 8 * sizeof(Register);  // bits in one register of all lanes
  static constexpr int a_registers = Rows * Depth * kBits<TA> / kUnit;
  static constexpr int b_registers = Columns * Depth * kBits<TB> / kUnit;
  static constexpr int d_registers = Rows * Columns * kBits<TD> / (32 * 8 * int{sizeof(Accumulator)});

  struct Form {
    using M = ptx::Number<Rows>;
    using N = ptx::Number<Columns>;
    using K = ptx::Number<Depth>;
    using A = ptx::Name<TA>;
    using B = ptx::Name<TB>;
    using D = ptx::Name<TD>;
    using Qualifier = Asked;
    using Operation = Last;
  };

  // d += a * b
  __device__ static void multiply(Accumulator (&d)[d_registers], const Register (&a)[a_registers],
                                  const Register (&b)[b_registers]) {
    Issue<Accumulator, d_registers, Register, a_registers, b_registers>::template multiply<Form>(d, a, b);
  }
};

}  // namespace mma

namespace ptx {
template <> struct Name<mma::s4> : Text<'s', '4'> {};
template <> struct Name<mma::u4> : Text<'u', '4'> {};
template <> struct Name<mma::b1> : Text<'b', '1'> {};
template <> struct Name<mma::e3m2> : Text<'e', '3', 'm', '2'> {};
template <> struct Name<mma::e2m3> : Text<'e', '2', 'm', '3'> {};
template <> struct Name<mma::e2m1> : Text<'e', '2', 'm', '1'> {};
}  // namespace ptx
