#pragma once
// Weights and biases of the channels of a group's elements, a pack of neighbouring elements at a time.
#include "device/ptx/cvt.cuh"
#include "device/tile/divisor.cuh"

// The weights or biases, if there are any, of the elements of a pack that begins at `position` of channel `first`, of
// `channels` channels of `extent` elements each. Narrow: a channel has fewer elements than a pack.
template <class T, int Count, bool Narrow, bool Present> struct ChannelPack {
  f32 value[Count];

  // The position is negative where the pack begins before the group. `after(i)` is by how many channels element i of
  // the pack lies behind the first.
  template <class After>
  __device__ ChannelPack(const View<const T, 1>& of, int channels, int extent, int first, int position, After after) {
    if constexpr (!Present) return;
    // That of the channel `c` after the first; of the last channel beyond it.
    const auto at = [&](int c) { return to_f32(of.data[min(first + c, channels - 1) * of.stride[0]]); };
    if constexpr (!Narrow) {  // the pack lies in at most two channels
      const bool one = position + Count <= extent;
      const f32 here = at(0), next = one ? here : at(1);
#pragma unroll
      for (int i = 0; i < Count; ++i) value[i] = position + i < extent ? here : next;
    } else {
#pragma unroll
      for (int i = 0; i < Count; ++i) value[i] = at(after(i));
    }
  }
};

// The same of both, and where the elements lie. Affine: 1: there are weights; 2: and biases.
template <class T, int Count, bool Narrow, int Affine> struct ChannelAffine {
  const Divisor by_channel;
  const int extent, channel, position;  // of the pack's first element
  const ChannelPack<T, Count, Narrow, Affine >= 1> weight;
  const ChannelPack<T, Count, Narrow, Affine >= 2> bias;

  // Of the pack that begins at `column` of a group whose channels begin with `first`. The divisor is the extent.
  __device__ ChannelAffine(const View<const T, 1>& W, const View<const T, 1>& B, int channels, const Divisor& extent,
                           int first, int column)
      : by_channel(extent),
        extent(extent.by),
        channel(first + static_cast<int>(extent.quotient(max(column, 0)))),
        position(column - (channel - first) * static_cast<int>(extent.by)),
        weight(W, channels, extent.by, channel, position, [&](int i) { return after(i); }),
        bias(B, channels, extent.by, channel, position, [&](int i) { return after(i); }) {}

  // By how many channels element i lies behind the first.
  __device__ int after(int i) const { return static_cast<int>(by_channel.quotient(max(position + i, 0))); }
  __device__ int channel_of(int i) const { return channel + after(i); }
  // Where in its channel it lies.
  __device__ int position_of(int i) const { return max(position + i, 0) - after(i) * extent; }

  __device__ f32 operator()(f32 y, int i) const {
    if constexpr (Affine >= 1) y *= weight.value[i];
    if constexpr (Affine >= 2) y += bias.value[i];
    return y;
  }
};
