// Registers whose values nothing may act on: those that a tcgen05.ld has yet to fill, and what was computed from them;
// and values read from memory that nothing has written. Instructions that only compute hand the mark on, as compilers
// move them ahead of a wait, and read past the end of what they then do not use; a report is due where such a value is
// stored, branched on, an address, or leaves the lane.
#pragma once

#include <memory>
#include <unordered_map>

#include "emulator/program/program.h"

namespace tma_jit::emulator {

struct Fault;

namespace check {

// What is wrong with some lanes of a register.
struct Taint {
  Mask lanes = 0;
  const Op* load = nullptr;                // a tcgen05.ld that has not been waited for
  std::shared_ptr<const Fault> unwritten;  // or the report of the read
};

// Of one warp.
class Taints {
 public:
  bool any() const { return !by_register_.empty(); }
  // No lanes where there is nothing wrong.
  Taint of(const Place& place) const;
  // The `written` lanes of the place have a new value, of which `taint` is to be said.
  void put(const Place& place, Mask written, const Taint& taint);
  // The loads are over.
  void forget_loads();

 private:
  std::unordered_map<u32, Taint> by_register_;
};

}  // namespace check
}  // namespace tma_jit::emulator
