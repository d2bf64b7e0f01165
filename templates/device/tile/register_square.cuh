#pragma once
// Squares of elements that a thread transposes in its registers: as many rows as a row of 16 bytes has elements.
#include "device/tile/swizzle.cuh"

template <class T> struct RegisterSquare {
  static constexpr int kSide = 16 / sizeof(T), kPerWord = kSide / 4;  // elements of a row; of one of its four words
  static_assert(kSide >= 2, "an element has at most 8 bytes");

  u32 word[kSide][4];

  __device__ void set(int row, const uint4& x) {
    word[row][0] = x.x, word[row][1] = x.y, word[row][2] = x.z, word[row][3] = x.w;
  }
  __device__ uint4 operator[](int row) const {
    return make_uint4(word[row][0], word[row][1], word[row][2], word[row][3]);
  }

  __device__ RegisterSquare transposed() const {
    RegisterSquare to;
#pragma unroll
    for (int row = 0; row < kSide; ++row)
#pragma unroll
      for (int w = 0; w < 4; ++w) to.word[row][w] = word_of_column(row, w);
    return to;
  }

 private:
  // Returns word w of the transposed square's row `column`.
  __device__ u32 word_of_column(int column, int w) const {
    if constexpr (sizeof(T) == 8) return word[w / 2][column * 2 + w % 2];
    if constexpr (sizeof(T) == 4) return word[w][column];
    if constexpr (sizeof(T) == 2)
      return __byte_perm(word[2 * w][column / 2], word[2 * w + 1][column / 2], column % 2 == 0 ? 0x5410 : 0x7632);
    if constexpr (sizeof(T) == 1) {
      // Two bytes of each of two rows; the compiler computes each pair once for both columns.
      const int from = column / 4, pair = column % 4 < 2 ? 0x5140 : 0x7362;
      return __byte_perm(__byte_perm(word[4 * w][from], word[4 * w + 1][from], pair),
                         __byte_perm(word[4 * w + 2][from], word[4 * w + 3][from], pair),
                         column % 2 == 0 ? 0x5410 : 0x7632);
    }
  }
};

// The position of a square in a tile, in squares.
struct SquarePosition {
  int down, across;
};

// Returns that of square `index` of a tile whose rows are Panels panels of 128 bytes. Squares are numbered in panels of
// 8 by 8, diagonal by diagonal. Eight threads with consecutive indices thus access eight chunks of a row of squares and
// of a column of squares at once: neither causes a bank conflict in a tile whose swizzle is 128. A warp accesses 64
// consecutive bytes of eight rows at once.
template <int Panels> __device__ inline SquarePosition diagonal_square(int index) {
  const int panel = index / 64, across = index % 8, down = swizzle::chunk<128>(index % 64 / 8, across);
  return {panel / Panels * 8 + down, panel % Panels * 8 + across};
}
