#pragma once
// What integer expressions give over ranges of their variables: a hook's text, computed with an Interval in place of an
// s32, gives the Interval or the Truth that has all the results. Bounds may be too wide, but never too narrow.
#include "device/types.cuh"

// The integers from lo to hi. It is made of what C++ converts to int without loss, and of nothing else, so that an
// expression with other types has no meaning for intervals.
struct Interval {
  s32 lo, hi;

  __device__ constexpr Interval(s32 lo, s32 hi) : lo(lo), hi(hi) {}
  __device__ constexpr Interval(s32 x) : lo(x), hi(x) {}
  Interval(u32) = delete;
  Interval(long) = delete;
  Interval(unsigned long) = delete;
  Interval(s64) = delete;
  Interval(u64) = delete;
  Interval(f32) = delete;
  Interval(f64) = delete;

  __device__ static constexpr Interval anything() { return {-0x7fffffff - 1, 0x7fffffff}; }
  // Returns the interval, or every s32 if a bound is none, as the expression may then wrap around.
  __device__ static constexpr Interval within(s64 lo, s64 hi) {
    return lo < anything().lo || hi > anything().hi ? anything() : Interval(static_cast<s32>(lo), static_cast<s32>(hi));
  }
  __device__ constexpr bool is_point() const { return lo == hi; }
};

template <class X> constexpr bool is_interval = false;
template <> constexpr bool is_interval<Interval> = true;
template <bool> struct EnableIfTrue {};
template <> struct EnableIfTrue<true> { using type = void; };
template <bool Condition> using EnableIf = typename EnableIfTrue<Condition>::type;

// Whether a condition holds somewhere, and whether it holds everywhere.
struct Truth {
  bool some, all;

  __device__ constexpr Truth(bool some, bool all) : some(some), all(all) {}
  __device__ constexpr Truth(Interval x) : some(x.lo != 0 || x.hi != 0), all(x.lo > 0 || x.hi < 0) {}
  __device__ constexpr Truth(s32 x) : some(x != 0), all(x != 0) {}
  Truth(u32) = delete;
  Truth(long) = delete;
  Truth(unsigned long) = delete;
  Truth(s64) = delete;
  Truth(u64) = delete;
  Truth(f32) = delete;
  Truth(f64) = delete;
};

__device__ constexpr Interval operator+(Interval a, Interval b) {
  return Interval::within(s64{a.lo} + b.lo, s64{a.hi} + b.hi);
}
__device__ constexpr Interval operator-(Interval a, Interval b) {
  return Interval::within(s64{a.lo} - b.hi, s64{a.hi} - b.lo);
}
__device__ constexpr Interval operator-(Interval a) {
  return Interval(0) - a;
}
__device__ inline Interval operator*(Interval a, Interval b) {
  const s64 w = s64{a.lo} * b.lo, x = s64{a.lo} * b.hi, y = s64{a.hi} * b.lo, z = s64{a.hi} * b.hi;
  return Interval::within(min(min(w, x), min(y, z)), max(max(w, x), max(y, z)));
}
// Quotients and remainders are known for positive divisors.
__device__ inline Interval operator/(Interval a, Interval b) {
  if (b.lo <= 0) return Interval::anything();
  return {min(a.lo / b.lo, a.lo / b.hi), max(a.hi / b.lo, a.hi / b.hi)};
}
__device__ inline Interval operator%(Interval a, Interval b) {
  if (b.lo <= 0) return Interval::anything();
  const bool signs = a.lo < 0 && a.hi > 0;
  if (b.is_point() && !signs && a.lo / b.lo == a.hi / b.lo) return {a.lo % b.lo, a.hi % b.lo};
  return {a.lo < 0 ? max(a.lo, 1 - b.hi) : 0, a.hi > 0 ? min(a.hi, b.hi - 1) : 0};
}
__device__ inline Interval min(Interval a, Interval b) {
  return {min(a.lo, b.lo), min(a.hi, b.hi)};
}
__device__ inline Interval max(Interval a, Interval b) {
  return {max(a.lo, b.lo), max(a.hi, b.hi)};
}
__device__ inline Interval abs(Interval a) {
  const Interval negative = -a;
  return {max(0, max(a.lo, negative.lo)), max(a.hi, negative.hi)};
}

__device__ constexpr Truth operator<(Interval a, Interval b) {
  return {a.lo < b.hi, a.hi < b.lo};
}
__device__ constexpr Truth operator<=(Interval a, Interval b) {
  return {a.lo <= b.hi, a.hi <= b.lo};
}
__device__ constexpr Truth operator>(Interval a, Interval b) {
  return b < a;
}
__device__ constexpr Truth operator>=(Interval a, Interval b) {
  return b <= a;
}
__device__ constexpr Truth operator==(Interval a, Interval b) {
  return {a.lo <= b.hi && b.lo <= a.hi, a.is_point() && b.is_point() && a.lo == b.lo};
}
__device__ constexpr Truth operator!(Truth a) {
  return {!a.all, !a.some};
}
__device__ constexpr Truth operator!=(Interval a, Interval b) {
  return !(a == b);
}
__device__ constexpr Truth operator&&(Truth a, Truth b) {
  return {a.some && b.some, a.all && b.all};
}
__device__ constexpr Truth operator||(Truth a, Truth b) {
  return {a.some || b.some, a.all || b.all};
}
