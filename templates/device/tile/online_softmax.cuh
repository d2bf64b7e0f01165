#pragma once
// The softmax of rows of which a warp sees some columns at a time (Milakov and Gimelshein, arXiv 1805.02867). The state
// per row is the maximum so far, and the sum of the weights relative to it.
#include "device/ptx/ex2.cuh"
#include "device/ptx/infinity.cuh"
#include "device/tile/register_tile.cuh"

// For scores in register tiles of type Scores. Weights are 2 to the power of the scaled distance from a row's maximum,
// of which the maximum in use may be up to 2 to the power of Slack too small, so that most steps keep it. Weights that
// are rounded to few bits are 2 to the power of Lift times as large, so that small ones are kept. One of Multiplied
// weights of a row, the same wherever it is, is computed by multiply-adds; 0: none.
template <class Scores, int Slack = 0, int Lift = 0, int Multiplied = 0> class OnlineSoftmax {
 public:
  using Vector = typename Scores::Vector;
  static constexpr f32 kMasked = -3.0e38F;  // a score without weight

  // The softmax of `scale` times the scores, and of each row's sink, a score without a value, of which minus infinity
  // is none; `scale` is not negative.
  __device__ OnlineSoftmax(f32 scale, const Vector& sinks) : scale_(scale == 0 ? kTiny : scale * kLog2e) {
#pragma unroll
    for (int s = 0; s < Scores::Layout::kRowSlots; ++s) {
      const bool given = sinks.x[s] > -infinity();
      greatest_.x[s] = given ? fmaxf(kLeast, sinks.x[s] * kLog2e / scale_) : kLeast;
      sum_.x[s] = given && threadIdx.x % Scores::Layout::kLanes == 0 ? 1 << Lift : 0;
    }
  }
  __device__ explicit OnlineSoftmax(f32 scale, f32 sink = -infinity()) : OnlineSoftmax(scale, filled(sink)) {}

  // Converts scores to weights, and returns whether results of earlier weights must be scaled by `factor`, which it
  // then sets. A row of only masked scores has no weights. The tile may have fewer columns than Scores. Called by all
  // lanes of the warp.
  template <class Tile> __device__ bool weigh(Tile& scores, Vector& factor) {
    const bool moved = rise(scores, factor);
    convert(scores);
    return moved;
  }
  // Keeps the weights' making before a wait that follows and does not depend on it, behind which ptxas otherwise moves
  // a part. The warp votes on whether a sum is negative, which none is. Called by all lanes of the warp.
  __device__ void settle() {
    f32 all = 0;
#pragma unroll
    for (f32 sum : sum_.x) all += sum;
    if (__any_sync(0xffffffff, all < 0)) sum_.x[0] = 0;
  }
  // Its two halves: adopts greater maxima, and converts the scores.
  template <class Tile> __device__ bool rise(const Tile& scores, Vector& factor) {
    const auto larger = [](f32 a, f32 b) { return fmaxf(a, b); };
    Vector now = greatest_;
    scores.fold_rows(now, larger);
    now.combine_lanes(larger);
    const bool moved = Slack == 0 || __any_sync(0xffffffff, exceeds(now));
    if (moved) move(kept(now), factor);
    return moved;
  }
  template <class Tile> __device__ void convert(Tile& scores) {
    Vector offset = greatest_;
    offset.map(offset, [&](f32 most, f32) { return Lift == 0 ? -most * scale_ : Lift - most * scale_; });
#pragma unroll
    for (int i = 0; i < Tile::Layout::kRegisters; ++i) {
      const f32 power = fmaf(scores.x[i], scale_, offset.x[Tile::Layout::slot(i)]);
      scores.x[i] = Multiplied > 0 && i % (Multiplied > 0 ? Multiplied : 1) == 0 ? ex2_polynomial(power) : ex2(power);
    }
    scores.fold_rows(sum_, [](f32 a, f32 b) { return a + b; });
  }
  // The same where every step scales earlier results; returns the factor.
  __device__ Vector weigh(Scores& scores) {
    static_assert(Slack == 0);
    Vector factor;
    weigh(scores, factor);
    return factor;
  }
  // Adopts the maximum of another warp that sees other columns of the same rows, and returns what `weigh` does. Called
  // by all lanes of the warp.
  __device__ bool follow(const Vector& now, Vector& factor) {
    bool moved = false;
#pragma unroll
    for (int s = 0; s < Scores::Layout::kRowSlots; ++s) moved |= now.x[s] != greatest_.x[s];
    moved = __any_sync(0xffffffff, moved);
    if (moved) move(now, factor);
    return moved;
  }

  // Returns the inverse of each row's sum, 0 if no score had weight. Called once, by all lanes of the warp.
  __device__ Vector inverse_sums() {
    sum_.combine_lanes([](f32 a, f32 b) { return a + b; });
    Vector inverse = sum_;
    inverse.map(sum_, [](f32, f32 sum) { return sum == 0 ? 0 : 1 / sum; });
    return inverse;
  }
  // Calls f(row, the logarithm of the sum over the row of e to the scaled score), in one lane for each row. Called
  // after inverse_sums.
  template <class F> __device__ void log_sums(F f) const {
    using Layout = typename Scores::Layout;
    if (threadIdx.x % Layout::kLanes != 0) return;
#pragma unroll
    for (int s = 0; s < Layout::kRowSlots; ++s)
      f(Layout::row(s), greatest_.x[s] * (scale_ / kLog2e) - Lift / kLog2e + logf(sum_.x[s]));
  }

  // Returns each row's maximum, as it is and of the scaled scores, and the sum of its weights relative to it, for
  // results that are combined with others.
  // Called by all lanes of the warp.
  __device__ const Vector& greatest() const {
    return greatest_;
  }
  __device__ Vector scaled_greatest() const {
    Vector scaled = greatest_;
    scaled.map(scaled, [&](f32 x, f32) { return x * (scale_ / kLog2e); });
    return scaled;
  }
  __device__ Vector sums() const {
    Vector sums = sum_;
    sums.combine_lanes([](f32 a, f32 b) { return a + b; });
    return sums;
  }

 private:
  static constexpr f32 kTiny = 1.0e-30F;   // instead of a scale of 0: weights are 1, and masked scores keep none
  static constexpr f32 kLeast = -1.0e30F;  // lower bound of the maximum, far above masked scores

  __device__ static Vector filled(f32 x) {
    Vector all;
    all.fill(x);
    return all;
  }
  __device__ void move(const Vector& now, Vector& factor) {
    factor = greatest_;
    factor.map(now, [&](f32 before, f32 after) { return ex2((before - after) * scale_); });
    sum_.map(factor, [](f32 sum, f32 f) { return sum * f; });
    greatest_ = now;
  }
  // Returns the maximum of the rows that must adopt it, and the one in use of the others, so that a row's results do
  // not depend on other rows.
  __device__ Vector kept(Vector now) const {
    if constexpr (Slack > 0)
      now.map(greatest_, [&](f32 now, f32 used) { return (now - used) * scale_ > Slack ? now : used; });
    return now;
  }
  __device__ bool exceeds(const Vector& now) const {
    bool any = false;
#pragma unroll
    for (int s = 0; s < Scores::Layout::kRowSlots; ++s) any |= (now.x[s] - greatest_.x[s]) * scale_ > Slack;
    return any;
  }

  f32 scale_;
  Vector greatest_, sum_;  // each lane has its own part of sum_
};
