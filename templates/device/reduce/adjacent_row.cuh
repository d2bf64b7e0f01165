#pragma once
// A row of which each thread of a block holds Packs adjacent packs of Count elements, one pack of Packs * Count elements
// to a ScannedRow. Threads read and write them in shared memory, where an odd number of packs lets a warp access all
// banks at once.
#include "device/reduce/register_row.cuh"

// Packs of T, of which the row has all elements or none.
template <int Threads, int Count, int Packs> struct AdjacentRow {
  static_assert(Packs % 2 == 1);
  static constexpr int kCount = Packs * Count;                   // elements of a thread
  static constexpr int kStep = Threads * kCount, kHeld = kStep;  // columns of which the threads hold elements

  // The thread's elements as they lie in memory.
  template <class T> struct Elements {
    Words<T, Count> words[Packs];
    __device__ T at(int i) const { return words[i / Count].at(i % Count); }
  };
  template <class T> struct Raw { Elements<T> pack[1]; };

  int row, column;  // of this thread's first element
  int left;         // elements of the row from `column` on; 0 or fewer where the thread holds none

  __device__ AdjacentRow(int, int columns, int row)
      : row(row), column(static_cast<int>(threadIdx.x) * kCount), left(columns - column) {}
  // Goes on along the row by as many times what its threads hold.
  __device__ void advance_parts(int parts) { column += parts * kHeld, left -= parts * kHeld; }

  __device__ int column_of(int, int i) const { return column + i; }
  __device__ bool holds(int, int i) const { return i < left; }
  __device__ bool whole(int) const { return kCount <= left; }

  // The thread's elements, which lie in shared memory from `from` on; anything where the row has none.
  template <class T> __device__ Raw<T> copied(const Words<T, Count>* from) const {
    Raw<T> in;
#pragma unroll
    for (int p = 0; p < Packs; ++p) in.pack[0].words[p] = from[p];
    return in;
  }
  // Puts the thread's results where copied() would read them.
  template <class O> __device__ static void put(Words<O, Count>* to, const Pack<O, kCount>& out) {
#pragma unroll
    for (int p = 0; p < Packs; ++p) to[p] = reinterpret_cast<const Words<O, Count>&>(out.x[p * Count]);
  }
};
