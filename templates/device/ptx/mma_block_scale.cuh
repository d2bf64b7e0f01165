#pragma once
// mma.sync with block-scaled operands, for sm_120a and sm_121a: groups of each row's elements of K share a scale
// factor, which the product applies. f32 accumulators. PTX ISA 9.0, "mma with block scaling", ".kind::mxf8f6f4",
// ".kind::mxf4", ".kind::mxf4nvf4".
#include "device/ptx/mma.cuh"

namespace mma {

struct ue8m0 {};
struct ue4m3 {};

// Number of factors per row, and PTX's text for it: m16n8k32 of mxf8f6f4 takes one factor per row, m16n8k64 of mxf4
// two, of mxf4nvf4 two or four.
struct Mxf8f6f4 : ptx::Text<'m', 'x', 'f', '8', 'f', '6', 'f', '4', '.', 'b', 'l', 'o', 'c', 'k', '_', 's', 'c', 'a',
                            'l', 'e', '.', 's', 'c', 'a', 'l', 'e', '_', 'v', 'e', 'c', ':', ':', '1', 'X'> {
  static constexpr int depth = 32;
};
struct Mxf4 : ptx::Text<'m', 'x', 'f', '4', '.', 'b', 'l', 'o', 'c', 'k', '_', 's', 'c', 'a', 'l', 'e', '.', 's', 'c',
                        'a', 'l', 'e', '_', 'v', 'e', 'c', ':', ':', '2', 'X'> {
  static constexpr int depth = 64;
};
struct Mxf4nvf4_2X : ptx::Text<'m', 'x', 'f', '4', 'n', 'v', 'f', '4', '.', 'b', 'l', 'o', 'c', 'k', '_', 's', 'c', 'a',
                               'l', 'e', '.', 's', 'c', 'a', 'l', 'e', '_', 'v', 'e', 'c', ':', ':', '2', 'X'> {
  static constexpr int depth = 64;
};
struct Mxf4nvf4_4X : ptx::Text<'m', 'x', 'f', '4', 'n', 'v', 'f', '4', '.', 'b', 'l', 'o', 'c', 'k', '_', 's', 'c', 'a',
                               'l', 'e', '.', 's', 'c', 'a', 'l', 'e', '_', 'v', 'e', 'c', ':', ':', '4', 'X'> {
  static constexpr int depth = 64;
};

// A 32-bit word of factors, one per byte. For A, lane 4g provides those of row g and lane 4g + 1 those of row g + 8;
// for B, lane 4g provides those of column g. They start at byte `Byte`, a multiple of their number. `Thread` selects
// other lanes of the four: for A, 1 selects the other two; for B, 0 to 3 select one each.
template <int Byte = 0, int Thread = 0> struct Factors { u32 word; };

// d += (a * factors) * (b * factors)^T, with the fragments of Mma of the same shape.
template <class Kind, class TA, class TB = TA, class Scale = ue8m0, int ByteA, int ThreadA, int ByteB, int ThreadB>
__device__ inline void multiply_scaled(f32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2], Factors<ByteA, ThreadA> fa,
                                       Factors<ByteB, ThreadB> fb) {
  asm("mma.sync.aligned.kind::%16.m16n8k%17.row.col.f32.%18.%19.f32.%20 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3}, {%10}, {%11, %12}, {%13}, {%14, %15};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(fa.word), "n"(ByteA), "n"(ThreadA),
        "r"(fb.word), "n"(ByteB), "n"(ThreadB), "C"(Kind::text), "C"(ptx::Number<Kind::depth>::text),
        "C"(ptx::Name<TA>::text), "C"(ptx::Name<TB>::text), "C"(ptx::Name<Scale>::text));
}

}  // namespace mma

namespace ptx {
template <> struct Name<mma::ue8m0> : Text<'u', 'e', '8', 'm', '0'> {};
template <> struct Name<mma::ue4m3> : Text<'u', 'e', '4', 'm', '3'> {};
}  // namespace ptx
