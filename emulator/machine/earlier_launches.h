// What the launches before a programmatic one did to global memory. Such a launch begins while they may still run, so
// that until it has executed griddepcontrol.wait it may neither read what they wrote nor write what they accessed. PTX
// ISA 9.0, "griddepcontrol".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/word.h"

namespace tma_jit::emulator {

// Accesses of one launch to a range of bytes.
struct EarlierAccess {
  u64 begin, end;
  bool written;       // false: only read
  bool strong;        // the last access is an atomic or another strong one
  const void* op;     // equal for ranges that one instruction accessed
  const char* place;  // "KERNEL at FILE:LINE: OPCODE (PTX line N)"; owned by the launch's record
};

// The accesses of one launch, in the order of their addresses.
class LaunchRecord {
 public:
  // Adds a range that begins at or behind the end of the one before.
  void add(const EarlierAccess& access);
  // Returns the first access that conflicts with one to these bytes; null if there is none. Reads do not conflict with
  // each other, nor do strong accesses.
  const EarlierAccess* find_conflict(u64 address, u64 bytes, bool write, bool strong) const;
  // Keeps a text for `place`.
  const char* keep(std::string text);

 private:
  std::vector<EarlierAccess> accesses_;
  std::vector<std::unique_ptr<const std::string>> places_;
};

// The launches that may still run when the next one begins, the oldest first.
using EarlierLaunches = std::vector<std::shared_ptr<const LaunchRecord>>;

}  // namespace tma_jit::emulator
