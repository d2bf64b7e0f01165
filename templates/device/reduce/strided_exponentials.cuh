#pragma once
// The exponentials of a row at any stride, without overflow.
#include "device/ptx/ex2.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/strided_row.cuh"

template <class Row> struct StridedExponentials {
  f32 greatest = -infinity(), sum = 0;  // the greatest x of the row, and the sum of exp(x - greatest)

  // Called by all threads of the block; read(j) is the x of a column.
  template <class Read> __device__ StridedExponentials(const Row& row, typename Row::Smem (&smem)[2], Read read) {
    row.each(read, [&](f32 x, int) { greatest = fmaxf(greatest, x); });
    greatest = row.combined(smem[0], greatest, -infinity(), [](f32 a, f32 b) { return fmaxf(a, b); });
    sum = row.sum(smem[1], read, [&](f32 x) { return of(x); });
  }
  __device__ f32 of(f32 x) const { return ex2((x - greatest) * kLog2e); }
};
