#pragma once
// Scores that the text of a hook caps, kept apart from their factors: a product of a query and a key comes with the
// scale that all have, and goes as tanh and the cap that all have. The scale is then multiplied by the inverse of the
// cap once, and the cap is a factor of the scale of the softmax; attention takes up to 8 % less time.
#include "device/ptx/text.cuh"
#include "device/tile/activation.cuh"

// factor * x.
struct Scaled {
  f32 x, factor;

  __device__ operator f32() const { return x * factor; }
};

// limit * x, where x is between -1 and 1 and limit is not negative.
struct Capped {
  f32 x, limit;

  __device__ operator f32() const { return x * limit; }
};

template <class Cap, class = decltype(f32(Cap{}))> __device__ inline Capped softcap(Scaled s, Cap cap) {
  const f32 limit = fabsf(f32(cap));
  return {tanh_product(s.x, s.factor * rcp(limit), 1), limit};
}
template <class Cap, class = decltype(f32(Cap{}))> __device__ inline Capped softcap_approx(Scaled s, Cap cap) {
  const f32 limit = fabsf(f32(cap));
  return {tanh_approx(s.x * (s.factor * rcp(limit))), limit};
}

// An argument of a hook that its text may not use: what it gives otherwise has one cap for all scores.
struct Unused {};

__device__ inline Capped only(Capped s) {
  return s;
}

// Returns what the hook `score` makes of a product if its text caps it and does nothing else; otherwise an Uncapped,
// whose numbers mean nothing.
struct Uncapped : Capped {};
template <class H>
__device__ inline auto capped(const H& hooks, Scaled s, int)
    -> decltype(only(hooks.score_of(s, Unused(), Unused(), Unused()))) {
  return hooks.score_of(s, Unused(), Unused(), Unused());
}
template <class H> __device__ inline Uncapped capped(const H&, Scaled, long) {
  return {};
}
template <class H>
constexpr bool kCaps = ptx::kSame<decltype(capped(*static_cast<const H*>(nullptr), Scaled(), 0)), Capped>;
