#pragma once
// A row with elements of a given value around those of another row, or without its outer ones.
#include "device/tile/pack.cuh"
#include "device/tile/unaligned.cuh"

// Column j is element j - shift of the other row where that has such an element. Distances are those from one element
// to the next.
template <class T> struct PaddedRow {
  T* to;
  s64 to_distance, columns;
  const T* from;
  s64 from_distance, elements, shift;

  // Stores units first, first + Step, ... of Count neighbouring columns, Units of them. Where Count elements are 16
  // bytes, units begin at aligned addresses, so that the first and the last of a row may be partial.
  template <int Count, int Units, int Step> __device__ void store(s64 first, T outside) const {
    constexpr int kLimit = (Units * Step + 2) * Count;
    constexpr bool kWhole = Count * sizeof(T) == 16;
    const int before = kWhole ? reinterpret_cast<u64>(to) % 16 / sizeof(T) : 0;
    const s64 start = first * Count - before;  // columns are counted from here, in 32 bits
    const auto column = [&](s64 j) { return static_cast<int>(max(min(j - start, s64{kLimit}), s64{-kLimit})); };
    const int zero = column(0), last = column(columns), begin = column(max(shift, s64{0}));
    const int end = column(min(shift + elements, columns));
    // Aligned loads stay within the other row.
    const T* const in = from + (start - shift);
    const int odd = kWhole ? reinterpret_cast<u64>(in) % 16 / sizeof(T) : 0;
    const int lowest = max(column(shift + odd), zero);
    const int highest = min(column(shift + elements - (odd == 0 ? 0 : Count - odd)), last);
    const uint4* const aligned = reinterpret_cast<const uint4*>(in - odd);
    uint4 low[Units], high[Units];
#pragma unroll
    for (int u = 0; u < Units && kWhole; ++u) {
      const int j = u * Step * Count;
      if (j < lowest || j + Count > highest) continue;
      low[u] = aligned[u * Step];
      if (odd != 0) high[u] = aligned[u * Step + 1];
    }
#pragma unroll
    for (int u = 0; u < Units; ++u) {
      const int j = u * Step * Count;
      if (kWhole && j >= lowest && j + Count <= highest) {
        const uint4 x = odd == 0 ? low[u] : unaligned::shifted<sizeof(T)>(low[u], high[u], odd * sizeof(T));
        *reinterpret_cast<uint4*>(to + start + j) = x;
      } else if (kWhole && j >= zero && j + Count <= last && (j >= end || j + Count <= begin)) {
        Pack<T, Count> padding;
#pragma unroll
        for (T& x : padding.x) x = outside;
        store_whole_pack(to + start + j, padding);
      } else if (j < last) {
        T x[Count];
#pragma unroll
        for (int k = 0; k < Count; ++k)
          x[k] = j + k >= begin && j + k < end ? from[(start + j + k - shift) * from_distance] : outside;
#pragma unroll
        for (int k = 0; k < Count; ++k)
          if (j + k >= zero && j + k < last) to[(start + j + k) * to_distance] = x[k];
      }
    }
  }
};
