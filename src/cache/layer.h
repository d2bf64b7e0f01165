// One place where entries may be: a folder, a pack, some day a server. The cache asks them in order.
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
  std::string from;    // the layer of a hit, where several were asked
};

// Thread-safe, and used beside other processes. It never fails its caller: a fault is a miss with a reason, a failed
// write an error to count and warn of once.
class Layer {
 public:
  virtual ~Layer() = default;

  // What reports call it: its path.
  virtual const std::string& name() const = 0;
  // Reads and verifies one entry.
  virtual Lookup get(const Key& key) const = 0;
  // Keeps an encoded entry; io where nothing can be kept.
  [[nodiscard]] virtual Result<void> put(const Key& key, std::span<const std::byte> encoded) const = 0;
  // Identities of the compilers whose entries it holds, the latest used first.
  virtual std::vector<std::string> compilers() const = 0;
  // Its entries that come nearest to one that is not there.
  virtual Nearest nearest(const Question& question) const = 0;
  // Notes that it has entries of that compiler, where it can be written.
  virtual Result<void> record_compiler(std::string_view) const { return {}; }
  // On a file system of this machine alone, which always answers.
  virtual bool local() const = 0;
};

}  // namespace tma_jit::cache
