#pragma once
// Weights and biases of the channels of a group's elements, a pack of neighbouring elements at a time.
#include "device/ptx/cvt.cuh"
#include "device/tile/divisor.cuh"

// The weights or biases of the elements of a pack that begins at `position` of channel `first`, of `channels` channels
// of `extent` elements each; all `neutral` if there are none. Narrow: a channel has fewer elements than a pack.
template <class T, int Count, bool Narrow, bool Present> class ChannelPack {
 public:
  // The position is negative where the pack begins before the group. `after(i)` is by how many channels element i of
  // the pack lies behind the first.
  template <class After>
  __device__ ChannelPack(const View<const T, 1>& of, int channels, int extent, int first, int position, f32 neutral,
                         After after)
      : cut_(Present ? extent - position : Count) {
    // That of the channel `c` after the first; of the last channel beyond it.
    const auto at = [&](int c) {
      return Present ? to_f32(of.data[min(first + c, channels - 1) * of.stride[0]]) : neutral;
    };
    if constexpr (!Narrow || !Present) {  // the pack lies in at most two channels
      value_[0] = at(0);
      value_[1] = Present && cut_ < Count ? at(1) : value_[0];
    } else {
#pragma unroll
      for (int i = 0; i < Count; ++i) value_[i] = at(after(i));
    }
  }
  __device__ void multiply(f32 by) {
#pragma unroll
    for (f32& value : value_) value *= by;
  }
  // That of element i.
  __device__ f32 operator[](int i) const {
    if constexpr (!Narrow || !Present) return i < cut_ ? value_[0] : value_[1];
    return value_[i];
  }

 private:
  const int cut_;  // the first element of another channel
  f32 value_[Narrow && Present ? Count : 2];
};

// The same of both, and where the elements lie. Affine: 1: there are weights; 2: and biases.
template <class T, int Count, bool Narrow, int Affine> struct ChannelAffine {
  const Divisor by_channel;
  const int extent, channel, position;  // of the pack's first element
  ChannelPack<T, Count, Narrow, Affine >= 1> weight;
  ChannelPack<T, Count, Narrow, Affine >= 2> bias;

  // Of the pack that begins at `column` of a group whose channels begin with `first`. The divisor is the extent.
  __device__ ChannelAffine(const View<const T, 1>& W, const View<const T, 1>& B, int channels, const Divisor& extent,
                           int first, int column)
      : by_channel(extent),
        extent(extent.by),
        channel(first + static_cast<int>(extent.quotient(max(column, 0)))),
        position(column - (channel - first) * static_cast<int>(extent.by)),
        weight(W, channels, extent.by, channel, position, 1, [&](int i) { return after(i); }),
        bias(B, channels, extent.by, channel, position, 0, [&](int i) { return after(i); }) {}

  // By how many channels element i lies behind the first.
  __device__ int after(int i) const { return static_cast<int>(by_channel.quotient(max(position + i, 0))); }
  __device__ int channel_of(int i) const { return channel + after(i); }
  // Where in its channel it lies.
  __device__ int position_of(int i) const { return max(position + i, 0) - after(i) * extent; }

  // What element i becomes, x times its weight plus its bias.
  __device__ f32 operator()(f32 x, int i) const { return Affine >= 2 ? x * weight[i] + bias[i] : x * weight[i]; }
};

// What the elements of a pack become that lies in one channel: their distances from `origin` times `scale`, plus
// `bias`.
struct PackAffine {
  f32 origin, scale, bias;

  // Elements are normalised by x * r - origin * r, then given the channel's weight and bias, then multiplied by
  // `factor`. Affine as above.
  template <int Affine, class T>
  __device__ static PackAffine of(const View<const T, 1>& W, const View<const T, 1>& B, int channel, f32 origin, f32 r,
                                  f32 factor = 1) {
    f32 scale = r * factor, bias = 0;
    if constexpr (Affine >= 1) scale *= to_f32(W.data[channel * W.stride[0]]);
    if constexpr (Affine >= 2) bias = to_f32(B.data[channel * B.stride[0]]) * factor;
    return {origin, scale, bias};
  }
  __device__ f32 operator()(f32 x) const { return (x - origin) * scale + bias; }
};
