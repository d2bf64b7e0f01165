#pragma once
// One warp reads 8 x 8 matrices of 16-bit elements, or the byte-wise forms of Blackwell, from shared memory into
// fragments of mma. Lane l gives the address of row l % 8 of matrix l / 8; with fewer than four matrices the addresses
// of the lanes beyond them are not used. Register i of a lane is matrix i: row lane / 4, columns lane % 4 * 2 and the
// next. PTX ISA 9.0, "Warp-level matrix load instruction: ldmatrix".
#include "device/types.cuh"

namespace mma {

template <int Count> struct Matrices { u32 r[Count]; };

__device__ inline Matrices<1> ldmatrix_x1(u32 row) {
  Matrices<1> f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(f.r[0]) : "r"(row) : "memory");
  return f;
}
__device__ inline Matrices<2> ldmatrix_x2(u32 row) {
  Matrices<2> f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(f.r[0]), "=r"(f.r[1])
               : "r"(row)
               : "memory");
  return f;
}
__device__ inline Matrices<4> ldmatrix_x4(u32 row) {
  Matrices<4> f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3])
               : "r"(row)
               : "memory");
  return f;
}

// Transposed: register i of a lane is column lane / 4 of matrix i, rows lane % 4 * 2 and the next.
__device__ inline Matrices<1> ldmatrix_x1_trans(u32 row) {
  Matrices<1> f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(f.r[0]) : "r"(row) : "memory");
  return f;
}
__device__ inline Matrices<2> ldmatrix_x2_trans(u32 row) {
  Matrices<2> f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(f.r[0]), "=r"(f.r[1])
               : "r"(row)
               : "memory");
  return f;
}
__device__ inline Matrices<4> ldmatrix_x4_trans(u32 row) {
  Matrices<4> f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3])
               : "r"(row)
               : "memory");
  return f;
}

}  // namespace mma
