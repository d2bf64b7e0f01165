#pragma once
// Groups of channels of a batch as the rows of a matrix.
#include "device/tile/divisor.cuh"

// Row n * groups + g is group g of batch n; the rows of other batches are not where they lie. Groups of `length`
// elements lie side by side, batches at any distance.
template <class E> __device__ inline View<E, 2> groups_of(const View<E, 3>& of, int n, int groups, int length) {
  return {of.data + n * (of.stride[0] - s64{groups} * length), {length, 1}};
}

// Returns where such a row begins, by its index.
template <class T> struct GroupBeginnings {
  const View<const T, 3>& of;
  int groups, length;
  __device__ const T* operator()(int index) const {
    return of.data + index / groups * of.stride[0] + index % groups * s64{length};
  }
};

// A group of channels of a batch, as a row: its batch, its first channel and how many elements it has.
struct ChannelGroup {
  int index, n, first, length, extent;
  Divisor by_channel;

  // Group `index` of those of all batches.
  template <class Dims>
  __device__ ChannelGroup(int index, const Dims& dims)
      : index(index),
        n(index / dims.G),
        first(index % dims.G * (dims.C / dims.G)),
        length(dims.C / dims.G * dims.S),
        extent(dims.S),
        by_channel(dims.S) {}

  // What a row's elements become: hooks.input() of an element and its place, which has a column of the group.
  template <class Hooks> __device__ auto input(const Hooks& hooks) const {
    return [this, &hooks](f32 x, int column) {
      const int c = by_channel.quotient(max(column, 0));
      return hooks.input(x, n, first + c, column - c * extent);
    };
  }
};
