// wgmma: matrix products that the four warps of a warpgroup issue together and that run asynchronously, in order.
// PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "emulator/machine/async_engine.h"
#include "emulator/matrix/wgmma.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator {

inline constexpr u32 kWarpsOfGroup = 4;

struct WgmmaForm : FormData {
  matrix::Wgmma instruction;  // the descriptors and scale-d are each issue's
  std::vector<Place> d, a;
  Place a_descriptor, b_descriptor;
  Place accumulate;  // a predicate
  std::vector<Place> reads() const override;
  std::vector<Place> writes() const override { return d; }
};

// One instruction, once its four warps have issued it. Its issue is no barrier: what one warp wrote before is there for
// the others only where something else orders it, so that `clocks` are what all four know.
class WgmmaOperation : public async::Operation {
 public:
  matrix::Wgmma instruction;
  const WgmmaForm* form = nullptr;
  u32 group = 0;
  std::array<Warp*, kWarpsOfGroup> warps{};
  std::array<check::Clocks, kWarpsOfGroup> warp_clocks;  // for A in shared memory, where accesses are checked
  u32 joined = 0;
  bool done = false;

  bool ready() const override { return joined == kWarpsOfGroup; }
  bool perform(Machine& machine) override;

 private:
  std::vector<u8*> registers(const std::vector<Place>& places) const;
};

// Of a block; warps 4n to 4n + 3.
struct Warpgroup {
  async::Queue queue;
  std::deque<std::shared_ptr<WgmmaOperation>> open;  // those that some warp has yet to issue
  std::array<u32, kWarpsOfGroup> issued{};           // by warp: how many so far
  u32 complete = 0;                                  // how many all four have issued
  check::ActorId channel = check::kNobody;
};

// Of a warp.
struct WgmmaState {
  u32 committed = 0;
  std::deque<std::shared_ptr<WgmmaOperation>> pending;  // not waited for
  u32 fence = 0;                                        // fences so far
  std::vector<u32> touched;  // by the register's number: 1 + the fences before the last ordinary access
};

// Notes the registers that an instruction uses, in kernels with wgmma.
void note_register_use(Warp& warp, const Op& op);

}  // namespace tma_jit::emulator
