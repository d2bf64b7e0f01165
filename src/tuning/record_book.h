// The records that an engine's plans follow, in layers: the first layer that has a problem says what is best for it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tma_jit/tuning.h>

namespace tma_jit::tuning {

// A fifth of an octave in one dim, or less in several: 4096 and 4608 are near, 4096 and 5120 are not.
inline constexpr double kNearest = 0.2;

// A record that speaks for a problem, and why.
struct Advice {
  TuningRecord record;
  std::string origin;    // the file, or "shipped"
  bool nearest = false;  // of another problem, whose dims are near
};

// Immutable once filled; then safe from any thread.
class RecordBook {
 public:
  // Behind the layers that are there. Of two records of one problem the faster one counts.
  void add_layer(std::string origin, std::vector<TuningRecord> records);

  // The record of this problem; else, over all layers, that of the nearest: of the same kernel, types, hooks and
  // device, the one with the least sum of |log2(dim / its dim)|, at most kNearest, the earliest of equals. A dim of 0
  // is near to none but 0.
  [[nodiscard]] std::optional<Advice> find(const TuningRecord& problem) const;

  bool empty() const { return layers_.empty(); }

 private:
  struct Layer {
    std::string origin;
    std::map<std::string, TuningRecord> by_problem;
    std::multimap<std::string, const TuningRecord*> by_family;  // into by_problem
  };
  std::vector<Layer> layers_;
};

}  // namespace tma_jit::tuning
