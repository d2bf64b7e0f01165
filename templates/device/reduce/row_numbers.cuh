#pragma once
// The elements of a row that a thread has in registers at a time, as numbers with their columns, for Selection.
#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/aligned_row.cuh"

// Unroll packs, of which Lanes threads read neighbouring ones. Outside of the row the numbers are minus infinity, and
// columns are negative or beyond all others: as unsigned numbers greater than those of the row, so that equal elements
// of the row come first.
template <class T, int Lanes, int Unroll> struct RowNumbers {
  static constexpr int kCount = AlignedRow<T>::kCount;

  f32 x[Unroll * kCount];
  u32 first;  // the column of x[0]

  // From pack p on; number(element, column) is that of an element.
  template <class F> __device__ RowNumbers(const AlignedRow<T>& row, s64 p, F number) {
    first = static_cast<u32>(row.index_of(p, 0));
    Elements<T> elements[Unroll];
    const auto of_element = [&](int i) {
      return number(to_f32(elements[i / kCount][i % kCount]), static_cast<int>(column(i)));
    };
    if (row.has_whole(p, p + (Unroll - 1) * Lanes)) {
#pragma unroll
      for (int u = 0; u < Unroll; ++u) elements[u] = row.load_whole(p + u * Lanes);
#pragma unroll
      for (int i = 0; i < Unroll * kCount; ++i) x[i] = of_element(i);
    } else {
#pragma unroll
      for (int u = 0; u < Unroll; ++u) elements[u] = row.load(p + u * Lanes);
#pragma unroll
      for (int i = 0; i < Unroll * kCount; ++i)
        x[i] = row.range(p + i / kCount * Lanes).has(i % kCount) ? of_element(i) : -infinity();
    }
  }
  __device__ u32 column(int i) const {
    return first + i / kCount * (Lanes * kCount) + i % kCount;
  }
};
