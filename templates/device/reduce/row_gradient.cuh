#pragma once
// What the gradients of a norm need of a row: y = h * w + b with h = (x - mean) * r, where r is one over the root of
// the variance; of rms_norm the mean is 0 and the variance the mean of squares.
#include "device/reduce/warp.cuh"

// Of some elements of a row: the mean of x, the sum of the squares of its distances from that, the sum of
// g = DY * w, and the sum of g times those distances.
struct alignas(16) PartSums {
  f32 mean, squares, g, gx;

  // From the sums of the distances from an origin, of their squares, of g, and of g times the distances, of elements of
  // which each is a share. The origin is the mean of some of them: where they are n times as many, the squares about it
  // add up to no more than n times those about the mean of all, so that the differences lose no more than the bits of
  // n.
  __device__ static PartSums about(f32 origin, const Sums<4>& sums, f32 share) {
    const f32 mean = sums.x[0] * share, squares = sums.x[1] - mean * sums.x[0];
    return {origin + mean, squares < 0 ? 0 : squares, sums.x[2], sums.x[3] - mean * sums.x[2]};
  }
};

// Joins what the lanes of a warp have, of `size` elements each and `all` together; without Centered the mean is 0.
template <bool Centered> __device__ inline PartSums joined(const PartSums& part, int size, int all) {
  const auto add = [](const Sums<2>& a, const Sums<2>& b) { return a + b; };
  Sums<2> means = {part.mean * static_cast<f32>(size), part.g};
  if constexpr (Centered) means = warp_reduce(means, add);
  const f32 mean = Centered ? means.x[0] / static_cast<f32>(max(all, 1)) : 0, distance = part.mean - mean;
  Sums<2> squares = {part.squares + distance * distance * static_cast<f32>(size), part.gx + distance * part.g};
  squares = warp_reduce(squares, add);
  return {mean, squares.x[0], means.x[1], squares.x[1]};
}

// DX = r * (g - mean_g - h * mean_gh).
struct RowGradient {
  f32 mean, r, mean_g, mean_gh;

  // Of all elements of a row, of which each is a share.
  template <bool Centered> __device__ static RowGradient of(const PartSums& all, f32 share, f32 eps) {
    const f32 r = rsqrtf(all.squares * share + eps);
    return {Centered ? all.mean : 0, r, Centered ? all.g * share : 0, all.gx * r * share};
  }
};

// DX of an element of T, and its h, with fewer operations: h * slope + (g * r + offset).
template <class T, bool Centered> class ElementGradient {
 public:
  __device__ explicit ElementGradient(const RowGradient& of)
      : mean_(of.mean), r_(of.r), shift_(-of.r * of.mean), slope_(-of.r * of.mean_gh), offset_(-of.r * of.mean_g) {}

  __device__ f32 h(f32 x) const {
    if constexpr (!Centered) return x * r_;
    // Elements of 16 bits are rounded more than the product of the mean is.
    return sizeof(T) == 2 ? x * r_ + shift_ : (x - mean_) * r_;
  }
  __device__ f32 dx(f32 g, f32 h) const { return h * slope_ + (Centered ? g * r_ + offset_ : g * r_); }

 private:
  const f32 mean_, r_, shift_, slope_, offset_;
};
