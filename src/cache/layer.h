// One place that may have entries: a folder or a pack. The cache searches the layers in order.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

#include "cache/entry.h"
#include "cache/nearest.h"

namespace tma_jit::cache {

struct Lookup {
  std::optional<Entry> entry;
  MissReason reason = MissReason::none;
  std::string detail;  // one line for the log; empty for a hit and for MissReason::absent
  std::string from;    // the layer that had the entry, if several were searched
};

// Thread-safe, and usable while other processes use the same place. A fault of the place is never an error of the
// caller: on reading it is a miss with a reason, on writing an error to be counted and warned of once.
class Layer {
 public:
  virtual ~Layer() = default;

  // Returns the name for reports: the layer's path.
  virtual const std::string& name() const = 0;
  // Reads and verifies one entry.
  virtual Lookup get(const Key& key) const = 0;
  // Stores an encoded entry; fails (io) if nothing can be stored.
  [[nodiscard]] virtual Result<void> put(const Key& key, std::span<const std::byte> encoded) const = 0;
  // Returns the identities of the compilers whose entries it holds, most recently used first.
  virtual std::vector<std::string> compilers() const = 0;
  // Returns the lines of tuning records that it carries; empty if there are none.
  virtual std::string records() const = 0;
  // Returns its entries that are most similar to a missing one.
  virtual Nearest nearest(const Question& question) const = 0;
  // Records that it has entries of that compiler, if it is writable.
  [[nodiscard]] virtual Result<void> record_compiler(std::string_view) const { return {}; }
  // Returns whether it is on a file system of this machine only, which always answers.
  virtual bool local() const = 0;
};

}  // namespace tma_jit::cache
