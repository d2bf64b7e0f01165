#pragma once
// The steps of keys in which a tile of queries sees any, from the last to the first. They are found from what a mask
// gives over ranges of keys: a range of 1024 steps is looked at in 32 parts, and each part in which a key may be seen
// step by step, so that steps far from those that are seen cost little.
#include "device/types.cuh"

// A step, whether all its keys are seen by all queries, and whether it is known to be a tile's last, in one number;
// kEnd is none.
struct SeenStep {
  static constexpr int kEnd = -1;

  __device__ static int of(int step, bool whole) { return step * 4 + whole; }
  __device__ static bool is_whole(int seen) { return seen % 2 != 0; }
  __device__ static bool is_last(int seen) { return seen / 2 % 2 != 0; }
  __device__ static int step(int seen) { return seen / 4; }
  // Returns the step with the knowledge of what follows.
  __device__ static int before(int seen, int after) { return after < 0 ? seen | 2 : seen; }
};

// over(first, last) returns what the mask gives over these keys: with members `some` and `all`. All members are called
// by all lanes of a warp, with the same arguments.
template <int TileN, class Over> class SeenSteps {
 public:
  // Of `steps` steps, the last of which ends with key `keys` - 1 if it is not full.
  __device__ SeenSteps(int steps, int keys, Over over)
      : over_(over), keys_(min(static_cast<s64>(keys), s64{steps} * TileN)), far_(ceil_div(steps, 1024)) {}

  // Returns the next SeenStep.
  __device__ int next() {
    while (seen_ == 0) {
      while (parts_ == 0) {
        if (far_ == 0) return SeenStep::kEnd;
        --far_;
        parts_ = __ballot_sync(kAll, look(far_ * 32, 32).some);
      }
      near_ = far_ * 1024 + take_highest(parts_) * 32;
      const auto seen = look(near_, 1);
      seen_ = __ballot_sync(kAll, seen.some);
      whole_ = __ballot_sync(kAll, seen.all);
    }
    const int bit = take_highest(seen_);
    return SeenStep::of(near_ + bit, (whole_ >> bit & 1) != 0);
  }

 private:
  static constexpr u32 kAll = 0xffffffff;

  __device__ static int take_highest(u32& bits) {
    const int highest = 31 - __clz(bits);
    bits ^= 1u << highest;
    return highest;
  }
  // Looks at the range of `steps` steps that is this lane's, counted from range `first`.
  __device__ auto look(int first, int steps) const {
    const s64 begin = s64{first + static_cast<int>(threadIdx.x % 32)} * steps * TileN;
    const int last = min(begin + s64{steps} * TileN, s64{keys_}) - 1;
    auto seen = over_(static_cast<int>(min(begin, s64{last})), last);
    if (begin > last) seen.some = false;
    if (begin + s64{steps} * TileN > keys_) seen.all = false;
    return seen;
  }

  Over over_;
  int keys_, far_, near_ = 0;
  u32 parts_ = 0, seen_ = 0, whole_ = 0;
};
