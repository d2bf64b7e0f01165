// One place where entries may be: a folder, a pack, some day a server. The cache asks them in order.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

#include "cache/entry.h"

namespace tma_jit::cache {

struct Lookup {
  std::optional<Entry> entry;
  MissReason reason = MissReason::none;
  std::string detail;  // one line for the log; empty for a hit and for MissReason::absent
  std::string from;    // the layer of a hit, where several were asked
};

// Thread-safe, and used beside other processes. Never in the way: a fault is a miss with a reason, a failed write an
// error to count and warn of once.
class Layer {
 public:
  virtual ~Layer() = default;

  // What reports call it: its path.
  virtual const std::string& name() const = 0;
  // Reads and verifies one entry.
  virtual Lookup get(const Key& key) const = 0;
  // Keeps an encoded entry; io where nothing can be kept.
  virtual Result<void> put(const Key& key, std::span<const std::byte> encoded) const = 0;
  // Identities of the compilers whose entries it holds, the latest used first.
  virtual std::vector<std::string> compilers() const = 0;
};

}  // namespace tma_jit::cache
