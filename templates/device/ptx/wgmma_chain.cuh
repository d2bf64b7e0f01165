#pragma once
// Four products of wgmma.cuh after each other, as one asm statement: the compiler takes time for each operand of a
// statement, and the accumulators of four products are operands once.
#include "device/ptx/wgmma_registers.cuh"

namespace ptx {

// Both texts, the first before the second.
template <char... A, char... B> __device__ Text<A..., B...> operator+(Text<A...>, Text<B...>);

}  // namespace ptx

namespace wgmma {

// The asm statements by the number of accumulators.
template <int Count> struct IssueChain;

// clang-format off
#define WGMMA_NEXT(COUNT, A, B, PREDICATE, FORM, TAIL) \
  "wgmma.mma_async.sync.aligned." FORM " {" REGISTER_NAMES_##COUNT "}, " A ", " B ", " PREDICATE TAIL ";\n"
#define WGMMA_WORDS(A, B, C, D) "{%" #A ", %" #B ", %" #C ", %" #D "}"
#define WGMMA_INPUT_WORDS(x) "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
// The numbers of the asm operands after the accumulators begin with COUNT.
#define WGMMA_CHAIN(COUNT, O1, O2, O3, O4, O5, O6, O7, O8, O9, O10, O11, O12, O13, O14, O15, O16, O17, O18, O19, O20, O21, O22) \
  template <> struct IssueChain<COUNT> { \
    template <class Form, class Tail> \
    __device__ static void ss(f32 (&d)[COUNT], const u64 (&a)[4], const u64 (&b)[4], bool accumulate) { \
      asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %" #O8 ", 0;\n" \
                   WGMMA_NEXT(COUNT, "%" #COUNT, "%" #O4, "p", "%" #O9, "%" #O10) \
                   WGMMA_NEXT(COUNT, "%" #O1, "%" #O5, "1", "%" #O9, "%" #O10) \
                   WGMMA_NEXT(COUNT, "%" #O2, "%" #O6, "1", "%" #O9, "%" #O10) \
                   WGMMA_NEXT(COUNT, "%" #O3, "%" #O7, "1", "%" #O9, "%" #O10) "}" \
                   : REGISTER_OPERANDS_##COUNT(WGMMA_F) \
                   : "l"(a[0]), "l"(a[1]), "l"(a[2]), "l"(a[3]), "l"(b[0]), "l"(b[1]), "l"(b[2]), "l"(b[3]), \
                     "r"(int{accumulate}), "C"(Form::text), "C"(Tail::text)); \
    } \
    template <class Form, class Tail> \
    __device__ static void rs(f32 (&d)[COUNT], const u32 (*a)[4], const u64 (&b)[4], bool accumulate) { \
      asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %" #O20 ", 0;\n" \
                   WGMMA_NEXT(COUNT, WGMMA_WORDS(COUNT, O1, O2, O3), "%" #O16, "p", "%" #O21, "%" #O22) \
                   WGMMA_NEXT(COUNT, WGMMA_WORDS(O4, O5, O6, O7), "%" #O17, "1", "%" #O21, "%" #O22) \
                   WGMMA_NEXT(COUNT, WGMMA_WORDS(O8, O9, O10, O11), "%" #O18, "1", "%" #O21, "%" #O22) \
                   WGMMA_NEXT(COUNT, WGMMA_WORDS(O12, O13, O14, O15), "%" #O19, "1", "%" #O21, "%" #O22) "}" \
                   : REGISTER_OPERANDS_##COUNT(WGMMA_F) \
                   : WGMMA_INPUT_WORDS(a[0]), WGMMA_INPUT_WORDS(a[1]), WGMMA_INPUT_WORDS(a[2]), WGMMA_INPUT_WORDS(a[3]), \
                     "l"(b[0]), "l"(b[1]), "l"(b[2]), "l"(b[3]), "r"(int{accumulate}), "C"(Form::text), "C"(Tail::text)); \
    } \
  };
#define WGMMA_CHAINS(X) \
  X(4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26) \
  X(8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30) \
  X(12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34) \
  X(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38) \
  X(20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42) \
  X(24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46) \
  X(28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50) \
  X(32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54) \
  X(36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58) \
  X(40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62) \
  X(44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66) \
  X(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70) \
  X(52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74) \
  X(56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78) \
  X(60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82) \
  X(64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86) \
  X(68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90) \
  X(72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94) \
  X(76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98) \
  X(80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102) \
  X(84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106) \
  X(88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110) \
  X(92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114) \
  X(96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118) \
  X(100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122) \
  X(104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126) \
  X(108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130) \
  X(112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134) \
  X(116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138) \
  X(120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142) \
  X(124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146) \
  X(128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150)
WGMMA_CHAINS(WGMMA_CHAIN)
// clang-format on

// d (+)= a(0) * b(0) + a(1) * b(1) + ..., Count products of Mma with f32 accumulators, four of them a statement.
template <int Columns, class T, int Count, class M = Mode<>> class Chain {
 public:
  using Product = Mma<Columns, T>;
  using Accumulators = f32[Product::registers];

  // a(i) and b(i) return the descriptors of product i.
  template <class A, class B> __device__ static void ss(Accumulators& d, A a, B b, bool accumulate) {
    using Tail = Immediates<M, true, Product::kSixteen, true>;
#pragma unroll
    for (int i = 0; i < kChained; i += 4)
      Issue::template ss<Form, Tail>(d, {a(i), a(i + 1), a(i + 2), a(i + 3)}, {b(i), b(i + 1), b(i + 2), b(i + 3)},
                                     accumulate || i > 0);
#pragma unroll
    for (int i = kChained; i < Count; ++i) Product::template ss<M>(d, a(i), b(i), accumulate || i > 0);
  }
  // The same with the words of each `a`, which must not change before the products have been waited for.
  template <class B> __device__ static void rs(Accumulators& d, const u32 (&a)[Count][4], B b, bool accumulate) {
    using Tail = Immediates<M, true, Product::kSixteen, false>;
#pragma unroll
    for (int i = 0; i < kChained; i += 4)
      Issue::template rs<Form, Tail>(d, a + i, {b(i), b(i + 1), b(i + 2), b(i + 3)}, accumulate || i > 0);
#pragma unroll
    for (int i = kChained; i < Count; ++i) Product::template rs<M>(d, a[i], b(i), accumulate || i > 0);
  }

 private:
  using Issue = IssueChain<Product::registers>;
  static constexpr int kChained = Count / 4 * 4;
  using Form = decltype(ptx::Text<'m', '6', '4', 'n'>() + ptx::Number<Columns>() + ptx::Text<'k'>() +
                        ptx::Number<Product::kDepth>() + ptx::Text<'.', 'f', '3', '2', '.'>() + ptx::Name<T>() +
                        ptx::Text<'.'>() + ptx::Name<T>());
};

}  // namespace wgmma
