#pragma once
// Operands of mma m16n8k16 for 16-bit types, fetched by ldmatrix from K-major tiles whose rows are 64 or 128 bytes
// swizzled over their own width: what the TMA writes with that swizzle, and what cp.async can write as well.
// PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16 with floating point type", "ldmatrix".
#include "device/ldmatrix.cuh"
#include "device/mma.cuh"

namespace mma {

struct FragmentA {
  u32 r[4];
};  // 16 rows x 16 k
struct FragmentB {
  u32 r[2];
};  // 8 columns x 16 k

// Where 16-byte chunk `chunk` of row `row` lies in a tile of rows of RowBytes; the tile's base is aligned to the
// swizzle's period.
template <int RowBytes> __device__ inline u32 swizzled(int row, int chunk) {
  static_assert(RowBytes == 64 || RowBytes == 128);
  const int mask = RowBytes == 128 ? row % 8 : row / 2 % 4;
  return row * RowBytes + (chunk ^ mask) * 16;
}

// What this lane adds to a tile's address to fetch the block of A at `row`, a multiple of 16, and k = 0. Exclusive or
// with 2 * k moves it along k, adding 16 * RowBytes to the next block of rows.
template <int RowBytes> __device__ inline u32 offset_a(int row) {
  const int lane = threadIdx.x % 32;
  return swizzled<RowBytes>(row + lane % 16, lane / 16);
}
// The same for two neighbouring 8-column blocks of B, whose rows are columns of the product.
template <int RowBytes> __device__ inline u32 offset_b(int column) {
  const int lane = threadIdx.x % 32;
  return swizzled<RowBytes>(column + lane / 16 * 8 + lane % 8, lane / 8 % 2);
}

// Matrices of A: rows 0-7 | 8-15, then the second half of k.
__device__ inline FragmentA load_a(u32 address) {
  const Matrices<4> f = ldmatrix_x4(address);
  return {{f.r[0], f.r[1], f.r[2], f.r[3]}};
}
__device__ inline void load_b(u32 address, FragmentB& b0, FragmentB& b1) {
  const Matrices<4> f = ldmatrix_x4(address);
  b0 = {{f.r[0], f.r[1]}};
  b1 = {{f.r[2], f.r[3]}};
}

template <class T> __device__ inline void multiply(f32 (&d)[4], const FragmentA& a, const FragmentB& b) {
  Mma<16, 8, 16, T>::multiply(d, a.r, b.r);
}

}  // namespace mma
