#pragma once
// Rows of 128 bytes of which one half is used: the bytes of numbers that are to be twice as wide. The halves of every
// second row are exchanged, so that no two of eight lanes that read 64 bytes of neighbouring rows use the same bank.

// Returns where byte `byte` of row `row` is, from the row's beginning.
__device__ constexpr int half_row_byte(int row, int byte) {
  return byte ^ row % 2 * 64;
}
