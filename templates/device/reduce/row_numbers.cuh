#pragma once
// The elements of a row that a thread has in registers at a time, as numbers with their columns, for Selection.
#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/aligned_row.cuh"

// Unroll packs, each Step packs behind the one before. Outside of the row the numbers are minus infinity, and
// columns are negative or beyond all others: as unsigned numbers greater than those of the row, so that equal elements
// of the row come first. F(element, column) is the number of an element.
template <class T, int Step, int Unroll, class F> struct RowNumbers {
  static constexpr int kCount = AlignedRow<T>::kCount;

  const AlignedRow<T>& row;
  const F& number;
  const int count;  // elements of the row
  f32 x[Unroll * kCount];
  u32 first;  // the column of x[0]

  // From pack p on.
  __device__ RowNumbers(const AlignedRow<T>& row, int count, s64 p, const F& number)
      : row(row), number(number), count(count) {
    first = static_cast<u32>(row.index_of(p, 0));
    Elements<T> elements[Unroll];
    const auto of_element = [&](int i) {
      return number(to_f32(elements[i / kCount][i % kCount]), static_cast<int>(column(i)));
    };
    if (row.has_whole(p, p + (Unroll - 1) * Step)) {
#pragma unroll
      for (int u = 0; u < Unroll; ++u) elements[u] = row.load_whole(p + u * Step);
#pragma unroll
      for (int i = 0; i < Unroll * kCount; ++i) x[i] = of_element(i);
    } else {
#pragma unroll
      for (int u = 0; u < Unroll; ++u) elements[u] = row.load(p + u * Step);
#pragma unroll
      for (int i = 0; i < Unroll * kCount; ++i)
        x[i] = row.range(p + i / kCount * Step).has(i % kCount) ? of_element(i) : -infinity();
    }
  }
  // The number in a column that column() gave, which is read again: an index of registers that the compiler does not
  // know would take a branch for each of them.
  __device__ f32 at(u32 column) const {
    return column < static_cast<u32>(count) ? number(to_f32(row.base[row.skip + s64{column}]), static_cast<int>(column))
                                            : -infinity();
  }
  __device__ u32 column(int i) const {
    return first + i / kCount * (Step * kCount) + i % kCount;
  }
};
