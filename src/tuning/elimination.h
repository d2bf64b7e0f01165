// Which of several configurations is the fastest: they race against the planned one, and fewer and fewer go on. Nothing
// here knows of devices; whoever has one runs the races.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <tma_jit/error.h>

#include "base/median.h"

namespace tma_jit::tuning {

// Where and when a race is run. A kernel's time depends on both, and differently for each configuration: on where
// tensors lie, and on the clock, which falls while the device works without a pause.
struct Moment {
  std::size_t place = 0;
  bool rested = false;  // the device has paused before
};

struct Track {
  // Runs the planned configuration and those with the given numbers in turns, and returns each one's time over that of
  // the planned one.
  std::function<Result<std::vector<double>>(std::span<const std::size_t> entrants, const Moment& moment)> race;
  std::function<bool()> over;  // whether the time is used up
  bool rests = true;           // whether there are rested moments
};

// What a change of the configuration takes.
struct Demands {
  double least_gain = 0.01;       // beyond three standard errors
  double relative_error = 0.003;  // of a ratio that is known well enough, the largest standard error
  std::size_t most_places = 96;   // of the final, which goes on until nothing that is not clear can change its decision
  std::size_t thoroughness = 1;   // times as many places before the final: for short launches, which cost little and
                                  // whose times vary more with the place
};

struct Standing {
  std::size_t entrant = 0;
  double ratio = 1;  // as far as is known
};

struct Decision {
  bool changed = false;             // the first of `finalists` is the choice; else the planned configuration is
  bool settled = false;             // every ratio that may be a gain is known well enough
  std::vector<Standing> finalists;  // the fastest that may be chosen first
  std::size_t places = 0;           // of the final, all together
};

// Halves the entrants, by their ratios in a few places each time, until a few are left. These race in the final with
// the device rested, and without a pause. One may be chosen over the planned configuration only if it is faster by
// `least_gain` beyond three standard errors in the mean over both, and slower in neither by more than its standard
// error: what is faster only while the clock is low, or only while it is high, is not. Of those that are as fast as the
// fastest, but for half a percent, the first entrant is chosen, so that another search chooses the same.
class Elimination {
 public:
  Elimination(const Track& track, const Demands& demands)
      : track_(track), demands_(demands), next_place_(kPlacesBefore * demands.thoroughness) {}

  [[nodiscard]] Result<Decision> run(std::vector<Standing> entrants);

  static constexpr std::size_t kPlacesBefore = 2;  // of the races that told the first ratios of the entrants; these and
                                                   // kHalfPlaces times Demands::thoroughness
  static constexpr std::size_t kFinalists = 4;     // beside the planned configuration
  static constexpr std::size_t kHalfPlaces = 4, kFinalPlaces = 8;  // the latter rested and not, again and again
  // Returns how often `run` at least runs a configuration in a place, the planned one included.
  static std::size_t least_launches(std::size_t entrants, bool rests, std::size_t thoroughness);

 private:
  struct Finalist {
    Standing standing;
    std::vector<std::vector<double>> ratios;  // of the rested moments, if there are any, and of the others
  };
  std::size_t kinds() const { return track_.rests ? 2 : 1; }
  [[nodiscard]] Result<void> halve(std::vector<Standing>& entrants);
  [[nodiscard]] Result<void> race(std::vector<Finalist>& finalists);
  Mean mean_of_all(const Finalist& finalist) const;
  bool may_win(const Finalist& finalist) const;
  // Returns whether it is known that the finalist gains too little, or is slower in some moments.
  bool cannot_win(const Finalist& finalist) const;
  bool is_precise(const Finalist& finalist) const;
  // Returns whether the finalists' ratios are known well enough to decide, whatever the decision is.
  bool settled(std::span<const Finalist> finalists) const;
  // Returns whether more places cannot change the decision: the fastest that may be chosen is known well enough, and of
  // what is faster still it is known that it cannot win.
  bool is_clear(std::span<const Finalist> finalists) const;
  void order(std::vector<Finalist>& finalists) const;

  const Track& track_;
  const Demands demands_;
  std::size_t next_place_;  // each is used once: who was lucky there is not again
};

}  // namespace tma_jit::tuning
