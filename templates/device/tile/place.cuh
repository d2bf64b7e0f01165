#pragma once
// Elements of tensors of five dimensions at any strides, a pack of neighbours in the last dimension at a time.
#include "device/tile/pack.cuh"

// Whether the Count elements from `first` on, `stride` apart and `left` of them there, are moved by one access.
template <int Count, class T> __device__ inline bool is_whole_pack(const T* first, s64 stride, int left) {
  return left >= Count && stride == 1 && reinterpret_cast<u64>(first) % alignof(Pack<T, Count>) == 0;
}
// Reads the Count elements from `first` on, `stride` apart, of which `left` are there: at once where addresses allow
// it.
template <int Count, class T> __device__ inline Pack<T, Count> load_neighbours(const T* first, s64 stride, int left) {
  if (is_whole_pack<Count>(first, stride, left)) return load_whole_pack<Count>(first);
  Pack<T, Count> pack = {};
  if (stride == 0) {
    pack.x[0] = *first;
#pragma unroll
    for (T& x : pack.x) x = pack.x[0];
    return pack;
  }
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (i < left) pack.x[i] = first[i * stride];
  return pack;
}

// Where an element lies: its index in each dimension.
struct Place {
  int at[5];

  // Of pack `index` of Count elements, in the order of memory of a tensor without space between rows; the last pack of
  // a row may be partial.
  template <int Count> __device__ static Place of(s64 index, const int (&extent)[5]) {
    Place place;
#pragma unroll
    for (int d = 4; d >= 0; --d) {
      const int n = d == 4 ? ceil_div(extent[d], Count) : extent[d];
      // A division of 32 bits takes a fraction of one of 64.
      const s64 above = n == 1 ? index : index >> 32 == 0 ? static_cast<u32>(index) / static_cast<u32>(n) : index / n;
      place.at[d] = static_cast<int>(index - above * n);
      index = above;
    }
    place.at[4] *= Count;
    return place;
  }

  template <class T> __device__ T* in(const View<T, 5>& of) const {
    T* element = of.data;
#pragma unroll
    for (int d = 0; d < 5; ++d) element += at[d] * of.stride[d];
    return element;
  }

  // Reads or writes the pack that begins here, of which the row has `left` elements: at once where addresses allow it.
  template <int Count, class T> __device__ Pack<T, Count> load(const View<const T, 5>& from, int left) const {
    return load_neighbours<Count>(in(from), from.stride[4], left);
  }
  template <int Count, class T>
  __device__ void store(const View<T, 5>& to, const Pack<T, Count>& pack, int left) const {
    T* const first = in(to);
    if (is_whole_pack<Count>(first, to.stride[4], left)) {
      store_whole_pack(first, pack);
      return;
    }
#pragma unroll
    for (int i = 0; i < Count; ++i)
      if (i < left) first[i * to.stride[4]] = pack.x[i];
  }
};
