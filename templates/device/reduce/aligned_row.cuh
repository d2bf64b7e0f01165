#pragma once
// A row of adjacent elements as packs of 16 bytes at addresses that are multiples of 16, wherever the row begins: its
// first and its last pack may lie in it only in part.
#include "device/types.cuh"

// The elements of a pack that belong to the row: from `first` on, before `end`.
struct PackRange {
  int first, end;
  __device__ bool has(int i) const { return i >= first && i < end; }
};

// The 16 bytes of a pack, kept as words: two elements of 16 bits need one register.
template <class T> struct Elements {
  uint4 words;
  __device__ T operator[](int i) const {
    const u32 word[4] = {words.x, words.y, words.z, words.w};
    if constexpr (sizeof(T) == 4)
      return __uint_as_float(word[i]);
    else
      return T{static_cast<u16>(word[i / 2] >> i % 2 * 16)};
  }
};

// T is f32, bf16 or f16. Whole: the row begins at 16 bytes and is whole packs, so that nothing of a pack is checked.
template <class T, bool Whole = false> struct AlignedRow {
  static constexpr int kCount = 16 / sizeof(T);

  const T* base;  // pack 0, at or before the row's first element
  int skip;       // elements of pack 0 before the row
  int last;       // elements of the last pack that are not beyond the row
  s64 packs;

  __device__ AlignedRow(const T* row, s64 count) {
    skip = Whole ? 0 : static_cast<int>(reinterpret_cast<u64>(row) % 16 / sizeof(T));
    base = row - skip;
    packs = count > 0 ? ceil_div<s64>(skip + count, kCount) : 0;
    last = Whole ? kCount : static_cast<int>(skip + count - (packs - 1) * kCount);
  }

  // The row's index of element i of pack p.
  __device__ s64 index_of(s64 p, int i) const { return p * kCount + i - skip; }
  __device__ PackRange range(s64 p) const {
    if constexpr (Whole) return {0, p < packs ? kCount : 0};
    return {p == 0 ? skip : 0, p < packs - 1 ? kCount : p == packs - 1 ? last : 0};
  }

  // Whether all elements of packs `from` to `to`, which are not negative, belong to the row.
  __device__ bool has_whole(s64 from, s64 to) const {
    return (Whole || from > 0 || skip == 0) && to < packs - (last < kCount);
  }
  // Pack p, all of whose elements belong to the row.
  __device__ Elements<T> load_whole(s64 p) const { return {*reinterpret_cast<const uint4*>(base + p * kCount)}; }

  // Pack p; elements outside of the row are 0.
  __device__ Elements<T> load(s64 p) const {
    const T* const at = base + p * kCount;
    const PackRange range = this->range(p);
    if (range.end - range.first == kCount) return load_whole(p);
    u32 word[4] = {};
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (!range.has(i)) continue;
      if constexpr (sizeof(T) == 4)
        word[i] = __float_as_uint(at[i]);
      else
        word[i / 2] |= u32{at[i].bits} << i % 2 * 16;
    }
    return {make_uint4(word[0], word[1], word[2], word[3])};
  }

  // Calls f(p, elements, range) for the packs p = first + u * step + n * turn, u < Unroll, in ascending order of n and
  // u, of which Unroll are loaded at a time. The range is empty where there is no such pack.
  template <int Unroll, class F> __device__ void each(s64 first, s64 step, s64 turn, F f) const {
    Elements<T> x[Unroll];
    for (s64 p = first; p < packs; p += turn) {
      if (has_whole(p, p + (Unroll - 1) * step)) {
#pragma unroll
        for (int u = 0; u < Unroll; ++u) x[u] = load_whole(p + u * step);
#pragma unroll
        for (int u = 0; u < Unroll; ++u) f(p + u * step, x[u], PackRange{0, kCount});
      } else {
#pragma unroll
        for (int u = 0; u < Unroll; ++u) x[u] = load(p + u * step);
#pragma unroll
        for (int u = 0; u < Unroll; ++u) f(p + u * step, x[u], range(p + u * step));
      }
    }
  }
};
