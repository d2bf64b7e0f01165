// Programs with one synchronising instruction removed or weakened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/program/program.h"

namespace tma_jit::testing {

enum class Change : std::uint8_t {
  remove,
  succeed,   // a wait for an mbarrier succeeds at once
  relax,     // .release, .acquire -> .relaxed
  one_more,  // a count or a number of bytes is off by one unit
  one_less,
};

struct Mutation {
  std::uint32_t op;
  Change change;
};

// Returns every mutation of the synchronising instructions. griddepcontrol.wait is excluded: launches are emulated one
// after the other, so that it never waits.
std::vector<Mutation> mutations_of(const emulator::Program& program);
emulator::Program mutated(const emulator::Program& program, const Mutation& mutation);
// Returns a description such as "remove fence.proxy.async (PTX line 12)".
std::string describe(const emulator::Program& program, const Mutation& mutation);
std::string_view name_of(Change change);
// Returns the instruction's family for tables, e.g. "mbarrier.arrive" or "wgmma.fence".
std::string family_of(const emulator::Program& program, const Mutation& mutation);

// Returns why an unreported mutant provably is the same kernel; empty if it may differ.
std::string_view equivalence_of(const emulator::Program& program, const Mutation& mutation);

// Returns a program that counts how often each of `ops` is executed.
class Coverage {
 public:
  Coverage(const emulator::Program& program, const std::vector<Mutation>& mutations);
  const emulator::Program& program() const { return program_; }
  bool executed(std::uint32_t op) const;

 private:
  emulator::Program program_;
};

}  // namespace tma_jit::testing
