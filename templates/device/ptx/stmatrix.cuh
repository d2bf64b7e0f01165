#pragma once
// A warp writes 8 x 8 matrices of 16-bit elements to shared memory, for sm_90 and newer: the inverse of ldmatrix. Lane
// l gives the address of row l % 8 of matrix l / 8. Register i of a lane is of matrix i: row lane / 4, columns lane % 4
// * 2 and the next, or with trans column lane / 4, rows lane % 4 * 2 and the next. PTX ISA 9.0, "Warp-level matrix
// store instruction: stmatrix".
#include "device/types.cuh"

namespace mma {

__device__ inline void stmatrix_x1(u32 row, u32 a) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(row), "r"(a) : "memory");
}
__device__ inline void stmatrix_x2(u32 row, u32 a, u32 b) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(a), "r"(b) : "memory");
}
__device__ inline void stmatrix_x4(u32 row, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}
__device__ inline void stmatrix_x1_trans(u32 row, u32 a) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(row), "r"(a) : "memory");
}
__device__ inline void stmatrix_x2_trans(u32 row, u32 a, u32 b) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(a), "r"(b) : "memory");
}
__device__ inline void stmatrix_x4_trans(u32 row, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(a), "r"(b),
               "r"(c), "r"(d)
               : "memory");
}

// The byte form, transposed: sm_100a, sm_103a, sm_120a, sm_121a. Lane l gives the address of row l % 8, of 16 bytes, of
// matrix l / 8. Register i of lane 4g + q is of matrix i: rows 2q and the next of column g in the low half, of column g
// + 8 in the high half. This is the layout of 16 rows of 8 columns in mma's accumulators: a row of shared memory
// becomes a column of the product.
__device__ inline void stmatrix_m16n8_x1_trans(u32 row, u32 a) {
  asm volatile("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%0], {%1};" ::"r"(row), "r"(a) : "memory");
}
__device__ inline void stmatrix_m16n8_x2_trans(u32 row, u32 a, u32 b) {
  asm volatile("stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%0], {%1, %2};" ::"r"(row), "r"(a), "r"(b) : "memory");
}
__device__ inline void stmatrix_m16n8_x4_trans(u32 row, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(a), "r"(b),
               "r"(c), "r"(d)
               : "memory");
}

}  // namespace mma
