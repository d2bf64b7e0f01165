#pragma once
// mma.sync m16n8k16 with f32 accumulators, and its operands fetched by ldmatrix from K-major tiles that the TMA wrote
// with a swizzle as wide as a row. PTX ISA 9.0, "mma.sync.aligned.m16n8k16", "ldmatrix".
#include "device/types.cuh"

namespace mma {

struct FragmentA {
  u32 r[4];
};  // 16 rows x 16 k
struct FragmentB {
  u32 r[2];
};  // 8 columns x 16 k

__device__ inline void ldmatrix_x4(u32 address, u32& a, u32& b, u32& c, u32& d) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(address));
}

// Where 16-byte chunk `chunk` of row `row` lies in a tile of rows of RowBytes (64 or 128) swizzled over the row's
// width; the tile's base is aligned to the swizzle's period.
template <int RowBytes> __device__ inline u32 swizzled(int row, int chunk) {
  static_assert(RowBytes == 64 || RowBytes == 128);
  const int mask = RowBytes == 128 ? row % 8 : row / 2 % 4;
  return row * RowBytes + (chunk ^ mask) * 16;
}

// The 16 x 16 block at (row, chunk): matrices rows 0-7 | 8-15, then the second half of k.
template <int RowBytes> __device__ inline FragmentA load_a(u32 tile, int row, int chunk) {
  const int lane = threadIdx.x % 32;
  FragmentA a;
  ldmatrix_x4(tile + swizzled<RowBytes>(row + lane % 16, chunk + lane / 16), a.r[0], a.r[1], a.r[2], a.r[3]);
  return a;
}

// Two neighbouring 8-column blocks at (row, chunk) of B, whose rows are columns of the product.
template <int RowBytes> __device__ inline void load_b(u32 tile, int row, int chunk, FragmentB& b0, FragmentB& b1) {
  const int lane = threadIdx.x % 32;
  ldmatrix_x4(tile + swizzled<RowBytes>(row + lane / 16 * 8 + lane % 8, chunk + lane / 8 % 2), b0.r[0], b0.r[1],
              b1.r[0], b1.r[1]);
}

template <class T> __device__ inline void multiply(f32* d, const FragmentA& a, const FragmentB& b);

#define MMA_DEFINE(T, NAME)                                                                         \
  template <> __device__ inline void multiply<T>(f32 * d, const FragmentA& a, const FragmentB& b) { \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." NAME "." NAME                                      \
        ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "                                                 \
        "{%8, %9}, {%0, %1, %2, %3};"                                                               \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                            \
        : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1]));            \
  }
MMA_DEFINE(bf16, "bf16")
MMA_DEFINE(f16, "f16")

}  // namespace mma
