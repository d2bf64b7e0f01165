#pragma once
// A tile of a matrix of elements of 1, 2 or 4 bytes, transposed by words: a thread loads a word of each of 32 rows and
// transposes them in its registers, so that shared memory only has the transposed tile.
#include "device/tile/swizzle.cuh"
#include "device/tile/unaligned.cuh"

// Of Rows rows and Columns columns before it is transposed.
template <class T, int Rows, int Columns> struct WordTile {
  static constexpr int kSize = sizeof(T), kPerWord = 4 / kSize;  // bytes of an element; elements of a word
  static constexpr int kHeld = 32, kPitch = Rows * kSize;        // rows that a thread has; bytes of a transposed row
  static_assert(kSize <= 4 && kPitch % 128 == 0);                // a row is whole units of the swizzle

  alignas(128) u8 bytes[Columns * kPitch];

  // The 16 bytes `chunk` of row `row` of the transposed tile: neither threads that have consecutive words of a row of
  // the matrix, nor those that read consecutive chunks, meet at a bank.
  __device__ uint4& chunk(u32 row, u32 chunk) {
    const int within = swizzle::chunk<128>(row / kPerWord, chunk % 8);
    return *reinterpret_cast<uint4*>(bytes + row * kPitch + (chunk / 8 * 8 + within) * 16);
  }
  // An element of the transposed tile.
  __device__ T& element(int row, int column) {
    return reinterpret_cast<T*>(&chunk(row, column * kSize / 16))[column % (16 / kSize)];
  }

  // Writes the thread's words of rows `first`, first + 1, ...: its lane's words of these rows, which begin with the
  // tile's columns.
  __device__ void put(const u32 (&words)[kHeld], int first) {
    const int lane = threadIdx.x % 32;
    if (lane * kPerWord >= Columns) return;
#pragma unroll
    for (int c = 0; c < kPerWord; ++c)
#pragma unroll
      for (int i = 0; i < kHeld; i += 4 * kPerWord)
        chunk(lane * kPerWord + c, (first + i) * kSize / 16) =
            make_uint4(of_column(words, c, i), of_column(words, c, i + kPerWord), of_column(words, c, i + 2 * kPerWord),
                       of_column(words, c, i + 3 * kPerWord));
  }

  // Stores the first `rows` rows of the transposed tile, 16 bytes at an aligned address at a time: of each row from the
  // first multiple of 32 bytes at or before `column` to that of the next tile. `row_of(r)` is where element `column` of
  // row r belongs, whose row of memory has `columns` elements. With Halo the tile begins as many elements before
  // `column`; without, rows of memory begin at multiples of 32 bytes. Called by Threads threads.
  template <int Threads, int Halo, class RowOf>
  __device__ void store(int rows, int column, int columns, const RowOf& row_of) {
    const int begin = -min(column, Halo) * kSize, end = min(Rows, columns - column) * kSize;
    if (column >= Halo && end >= (Rows - Halo) * kSize)
      store_units<Threads, Halo, true>(rows, begin, end, row_of);
    else
      store_units<Threads, Halo, false>(rows, begin, end, row_of);
  }

 private:
  // Stores what store() says of each row: bytes `begin` to before `end` from `row_of(r)` on, or with Inside all units.
  template <int Threads, int Halo, bool Inside, class RowOf>
  __device__ void store_units(int rows, int begin, int end, const RowOf& row_of) {
    constexpr int kUnits = (Rows - Halo) * kSize / 16, kHalo = Halo * kSize;
    constexpr int kAcross = 8;  // threads that share a row
    for (u32 r = threadIdx.x / kAcross; r < rows; r += Threads / kAcross) {
      u8* const first = reinterpret_cast<u8*>(row_of(r));
      const u32 before = Halo == 0 ? 0 : reinterpret_cast<u64>(first) % 32, shift = (kHalo - before) % 16;
#pragma unroll
      for (int unit = threadIdx.x % kAcross; unit < kUnits; unit += kAcross) {
        const int at = unit * 16 - static_cast<int>(before);
        const u32 c = (kHalo - before) / 16 + unit;
        if (!Inside && (at >= end || at + 16 <= begin)) continue;
        uint4 x = chunk(r, c);
        if (Halo > 0 && shift != 0) x = unaligned::shifted<kSize>(x, chunk(r, c + 1), shift);
        if (Inside || (at >= begin && at + 16 <= end))
          *reinterpret_cast<uint4*>(first + at) = x;
        else
          unaligned::store_part<T>(first + at, x, begin - at, end - at);
      }
    }
  }
  // The elements of one column in rows first, first + 1, ... that fit into a word.
  __device__ static u32 of_column(const u32 (&words)[kHeld], int column, int first) {
    if constexpr (kSize == 4) return words[first];
    if constexpr (kSize == 2) return __byte_perm(words[first], words[first + 1], column == 0 ? 0x5410 : 0x7632);
    const int pair = column < 2 ? 0x5140 : 0x7362;  // the compiler computes each pair once for two columns
    return __byte_perm(__byte_perm(words[first], words[first + 1], pair),
                       __byte_perm(words[first + 2], words[first + 3], pair), column % 2 == 0 ? 0x5410 : 0x7632);
  }
};
