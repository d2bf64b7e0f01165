#pragma once
// The steps of keys in which a tile of queries sees any, from the last to the first. They are found from what a mask
// gives over ranges of keys: a range of 1024 steps is looked at in 32 parts, and each part in which a key may be seen
// step by step, so that steps far from those that are seen cost little.
#include "device/types.cuh"

// Of which of 32 steps some key is seen by some query, and of which all by all.
struct StepBits {
  u32 some, all;
};

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

// The steps that Looks finds, which has
//   ranges()            ranges of 1024 steps
//   look(range, true)   of the range's parts, of 32 steps each, in which a key may be seen: a bit of `some` for each
//   look(part, false)   the StepBits of the steps of a part of the range that was looked at last
// All members are called by all lanes of a warp, with the same arguments.
template <class Looks> class StepsOf {
 public:
  __device__ explicit StepsOf(const Looks& looks) : looks_(looks), range_(looks.ranges()) {}

  // Returns the next SeenStep.
  __device__ int next() {
    while (seen_.some == 0) {
      const bool coarse = parts_ == 0;
      if (coarse && range_ == 0) return SeenStep::kEnd;
      if (coarse)
        --range_;
      else
        part_ = range_ * 32 + take_highest(parts_);
      const StepBits found = looks_.look(coarse ? range_ : part_, coarse);  // one call: its text is long
      if (coarse)
        parts_ = found.some;
      else
        seen_ = found;
    }
    const int bit = take_highest(seen_.some);
    return SeenStep::of(part_ * 32 + bit, (seen_.all >> bit & 1) != 0);
  }

 private:
  __device__ static int take_highest(u32& bits) {
    const int highest = 31 - __clz(bits);
    bits ^= 1u << highest;
    return highest;
  }

  Looks looks_;
  int range_, part_ = 0;
  u32 parts_ = 0;
  StepBits seen_ = {0, 0};
};

// Looks at what a mask gives: over(first, last) returns it for these keys, with members `some` and `all`.
template <int TileN, class Over> class StepLooks {
 public:
  // At `steps` steps, the last of which ends with key `keys` - 1 if it is not full.
  __device__ StepLooks(int steps, int keys, Over over)
      : over_(over), keys_(min(static_cast<s64>(keys), s64{steps} * TileN)), ranges_(ceil_div(steps, 1024)) {}

  __device__ int ranges() const { return ranges_; }
  // Each lane looks at one of 32 parts or steps.
  __device__ StepBits look(int index, bool coarse) const {
    const s64 keys = coarse ? 32 * TileN : TileN, begin = (s64{index} * 32 + threadIdx.x % 32) * keys;
    const int last = min(begin + keys, s64{keys_}) - 1;
    const auto seen = over_(static_cast<int>(min(begin, s64{last})), last);
    return {__ballot_sync(kAll, seen.some && begin <= last), __ballot_sync(kAll, seen.all && begin + keys <= keys_)};
  }

 private:
  static constexpr u32 kAll = 0xffffffff;

  Over over_;
  int keys_, ranges_;
};

// The steps of one tile, found by the warp itself.
template <int TileN, class Over> class SeenSteps : public StepsOf<StepLooks<TileN, Over>> {
 public:
  __device__ SeenSteps(int steps, int keys, Over over)
      : StepsOf<StepLooks<TileN, Over>>(StepLooks<TileN, Over>(steps, keys, over)) {}
};
