// Programs with one synchronising instruction removed or weakened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/program/program.h"

namespace tma_jit::testing {

enum class Change : std::uint8_t {
  remove,
  succeed,   // a wait for an mbarrier that is always told yes
  relax,     // .release, .acquire -> .relaxed
  one_more,  // a count or a number of bytes, by one unit
  one_less,
};

struct Mutation {
  std::uint32_t op;
  Change change;
};

// Every mutation of the instructions that synchronise. griddepcontrol.wait is left out: launches are emulated one after
// the other, so that what it waits for is always over.
std::vector<Mutation> mutations_of(const emulator::Program& program);
emulator::Program mutated(const emulator::Program& program, const Mutation& mutation);
// "remove fence.proxy.async (PTX line 12)"
std::string describe(const emulator::Program& program, const Mutation& mutation);
std::string_view name_of(Change change);
// The instruction's family, for tables: "mbarrier.arrive", "wgmma.fence".
std::string family_of(const emulator::Program& program, const Mutation& mutation);

// Why a mutant that was not reported is no other kernel, where it provably is none; empty: it may be one.
std::string_view equivalence_of(const emulator::Program& program, const Mutation& mutation);

// A program that counts how often each of `ops` is executed.
class Coverage {
 public:
  Coverage(const emulator::Program& program, const std::vector<Mutation>& mutations);
  const emulator::Program& program() const { return program_; }
  bool executed(std::uint32_t op) const;

 private:
  emulator::Program program_;
};

}  // namespace tma_jit::testing
