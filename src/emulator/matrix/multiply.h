// The multiplications themselves, on dense tiles: plain loops over vectors of eight, compiled for any machine and for
// x86-64-v3, and chosen when the program starts. Both do the same operations in the same order, with no fused
// multiply-add, so that a result does not depend on the machine that emulates.
#pragma once

#include "emulator/word.h"

namespace tma_jit::emulator::matrix {

// c[m][n] = sum over k, ascending from zero, of a[m][k] * b[k][n]. Rows are `*_stride` elements apart; `n` is a
// multiple of 8.
template <class T> struct Tile {
  const T* a;
  const T* b;
  T* c;
  u32 m, n, k;
  std::size_t a_stride, b_stride, c_stride;
  bool onto = false;
};

// Half a fragment of an accumulator: 8 rows by 8 columns, as m16n8 and wgmma spread them over a warp. Lane 4 * row + i
// holds columns 2 * i, in `even`, and 2 * i + 1, in `odd`.
struct Block {
  const float* sums;  // 8 rows, `stride` apart
  std::size_t stride;
  float* even;
  float* odd;
};

struct Kernels {
  void (*multiply_f32)(const Tile<float>& tile);
  void (*multiply_s32)(const Tile<s32>& tile);
  void (*store_block)(const Block& block);  // the lanes become the sums
  void (*add_block)(const Block& block);    // the sums are added to the lanes
  void (*add_row)(const float* sums, float* row, u32 count);
};

// The fastest that this machine runs.
const Kernels& kernels();

}  // namespace tma_jit::emulator::matrix
