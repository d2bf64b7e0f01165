// Taint tracking of registers. The results of a tcgen05.ld that has not been waited for, and values read from memory
// that was never written, are tainted. Instructions that only compute propagate the taint, because compilers move them
// before a wait and read beyond the data that they use. A tainted value that is stored, branched on, used as an address
// or passed to another lane is reported.
#pragma once

#include <memory>
#include <unordered_map>

#include "emulator/program/program.h"

namespace tma_jit::emulator {

struct Fault;

// The taint of some lanes of a register.
struct Taint {
  Mask lanes = 0;
  const Op* load = nullptr;                // a tcgen05.ld that has not been waited for
  std::shared_ptr<const Fault> unwritten;  // or the fault to report
};

// The taints of one warp's registers.
class Taints {
 public:
  bool any() const { return !by_register_.empty(); }
  // Returns a taint of no lanes if the register is clean.
  Taint of(const RegisterRef& reg) const;
  // Records a new value with the given taint in the `written` lanes of the register.
  void put(const RegisterRef& reg, Mask written, const Taint& taint);
  // Clears the taints of tcgen05.ld.
  void forget_loads();

 private:
  std::unordered_map<u32, Taint> by_register_;
};

}  // namespace tma_jit::emulator
