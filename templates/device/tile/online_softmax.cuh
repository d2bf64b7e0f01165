#pragma once
// The softmax of rows of which a warp sees some columns at a time (Milakov and Gimelshein, arXiv 1805.02867). The state
// per row is the maximum so far, and the sum of the weights relative to it.
#include "device/tile/register_tile.cuh"

// For scores in register tiles of type Scores.
template <class Scores> class OnlineSoftmax {
 public:
  using Vector = typename Scores::Vector;
  static constexpr f32 kMasked = -3.0e38F;  // a score without weight

  __device__ OnlineSoftmax() {
    greatest_.fill(kLeast);
    sum_.fill(0);
  }

  // Converts scores to weights, e to the score minus the maximum so far, and returns the factor by which results of
  // earlier weights must be scaled. A row of only masked scores has no weights. Called by all lanes of the warp.
  __device__ Vector weigh(Scores& scores) {
    const auto larger = [](f32 a, f32 b) { return fmaxf(a, b); };
    Vector factor = greatest_;
    scores.fold_rows(greatest_, larger);
    greatest_.combine_lanes(larger);
    factor.map(greatest_, [](f32 before, f32 now) { return exp2f((before - now) * kLog2e); });
    scores.map_rows(greatest_, [](f32 x, f32 most) { return exp2f((x - most) * kLog2e); });
    sum_.map(factor, [](f32 sum, f32 f) { return sum * f; });
    scores.fold_rows(sum_, [](f32 a, f32 b) { return a + b; });
    return factor;
  }

  // Returns the inverse of each row's sum, 0 if no score had weight. Called once, by all lanes of the warp.
  __device__ Vector inverse_sums() {
    sum_.combine_lanes([](f32 a, f32 b) { return a + b; });
    Vector inverse = sum_;
    inverse.map(sum_, [](f32, f32 sum) { return sum == 0 ? 0 : 1 / sum; });
    return inverse;
  }

  // Returns each row's maximum, and the sum of its weights relative to it, for results that are combined with others.
  // Called by all lanes of the warp.
  __device__ const Vector& greatest() const { return greatest_; }
  __device__ Vector sums() const {
    Vector sums = sum_;
    sums.combine_lanes([](f32 a, f32 b) { return a + b; });
    return sums;
  }

 private:
  static constexpr f32 kLog2e = 1.44269504F;
  static constexpr f32 kLeast = -1.0e30F;  // lower bound of the maximum, far above masked scores

  Vector greatest_, sum_;  // each lane has its own part of sum_
};
