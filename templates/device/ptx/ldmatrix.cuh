#pragma once
// A warp reads 8 x 8 matrices of 16-bit elements from shared memory into fragments of mma; the byte forms of Blackwell
// are below. Lane l gives the address of row l % 8 of matrix l / 8; with fewer than four matrices the addresses of the
// remaining lanes are ignored. Register i of a lane is from matrix i: row lane / 4, columns lane % 4 * 2 and the next.
// PTX ISA 9.0, "Warp-level matrix load instruction: ldmatrix".
#include "device/ptx/text.cuh"

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

// Transposed: register i of a lane is from matrix i: column lane / 4, rows lane % 4 * 2 and the next.
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

// The byte forms: sm_100a, sm_103a, sm_120a, sm_121a. 16 bytes of shared memory contain 16 bytes, or at their start
// sixteen packed values of 4 or 6 bits, each of which becomes the low bits of a byte. (Products of kind f8f6f4 need
// e2m1 in bits 2 to 5: shift the words left by 2.)
using Bytes = ptx::Text<'b', '8'>;
using FromB4 = ptx::Text<'b', '8', 'x', '1', '6', '.', 'b', '4', 'x', '1', '6', '_', 'p', '6', '4'>;
using FromB6 = ptx::Text<'b', '8', 'x', '1', '6', '.', 'b', '6', 'x', '1', '6', '_', 'p', '3', '2'>;

// 16 x 16 bytes, transposed. Lane l gives the address of row l % 16 of matrix l / 16. Register 2i + r of lane 4g + q
// has rows 4q + 2r and the next of matrix i: column g in the low half, column g + 8 in the high half.
template <class Format = Bytes> __device__ inline Matrices<2> ldmatrix_m16n16_x1_trans(u32 row) {
  Matrices<2> f;
  asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.%3 {%0, %1}, [%2];"
               : "=r"(f.r[0]), "=r"(f.r[1])
               : "r"(row), "C"(Format::text)
               : "memory");
  return f;
}
template <class Format = Bytes> __device__ inline Matrices<4> ldmatrix_m16n16_x2_trans(u32 row) {
  Matrices<4> f;
  asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.%5 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3])
               : "r"(row), "C"(Format::text)
               : "memory");
  return f;
}

// 8 rows of sixteen packed values. Addresses as for 8 x 8 matrices; register i of lane 4g + q has bytes 4q to 4q + 3 of
// row g of matrix i.
template <class Format> __device__ inline Matrices<1> ldmatrix_m8n16_x1(u32 row) {
  Matrices<1> f;
  asm volatile("ldmatrix.sync.aligned.m8n16.x1.shared.%2 {%0}, [%1];"
               : "=r"(f.r[0])
               : "r"(row), "C"(Format::text)
               : "memory");
  return f;
}
template <class Format> __device__ inline Matrices<2> ldmatrix_m8n16_x2(u32 row) {
  Matrices<2> f;
  asm volatile("ldmatrix.sync.aligned.m8n16.x2.shared.%3 {%0, %1}, [%2];"
               : "=r"(f.r[0]), "=r"(f.r[1])
               : "r"(row), "C"(Format::text)
               : "memory");
  return f;
}
template <class Format> __device__ inline Matrices<4> ldmatrix_m8n16_x4(u32 row) {
  Matrices<4> f;
  asm volatile("ldmatrix.sync.aligned.m8n16.x4.shared.%5 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3])
               : "r"(row), "C"(Format::text)
               : "memory");
  return f;
}

}  // namespace mma
