// The records that an engine's plans follow, in layers: the first layer with a record of a problem decides.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/tuning.h>

#include "tuning/record_layer.h"

namespace tma_jit::tuning {

// Largest distance, in log2: a fifth of an octave in one dim, or less in each of several. 4096 and 4608 are near, 4096
// and 5120 are not.
inline constexpr double kNearest = 0.2;

using SharedLayer = std::shared_ptr<const RecordLayer>;

// A line of a record as it stands in the text of a layer.
struct SharedLine {
  std::string_view text{};  // empty if the record was added as a value
  SharedLayer layer{};
};

// The record that applies to a problem, and why.
struct Advice {
  TuningRecord record;
  std::string origin;    // the file, or "shipped"
  bool nearest = false;  // of another problem with similar dims
  SharedLine line{};     // empty where `nearest`
};

// Thread-safe once filled, because it is then immutable.
class RecordBook {
 public:
  // Add a layer after the existing ones. Of two records of one problem the faster one is used.
  void add_layer(SharedLayer layer);
  // `lines` are some that tuning_line wrote.
  void add_layer(std::string origin, const std::vector<TuningRecord>& records, std::string lines = {});

  // Returns the first current record of this very problem.
  [[nodiscard]] std::optional<Advice> of(const TuningRecord& problem, const Current& is_current = any_record) const;

  // Returns the first current record of this problem. If there is none, returns the nearest one of all layers: of those
  // with the same kernel, types, hooks, conditions and device, the one with the least sum of |log2(dim / its dim)|, if
  // that is at most kNearest; the earliest of equals. A dim of 0 is near only to 0.
  [[nodiscard]] std::optional<Advice> find(const TuningRecord& problem, const Current& is_current = any_record) const;

  bool empty() const { return layers_.empty(); }
  // Returns the stems of the files that are choices of the kernel's records, those of more records first.
  [[nodiscard]] std::span<const std::string_view> files(std::string_view kernel) const;

 private:
  struct Kernel {
    std::vector<RecordLayer::Choice> choices;
    std::vector<std::string_view> files;
  };

  std::vector<SharedLayer> layers_;
  std::map<std::string_view, Kernel> kernels_;
};

}  // namespace tma_jit::tuning
