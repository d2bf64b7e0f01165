// wgmma: matrix multiplications that the four warps of a warpgroup issue together and that execute asynchronously, in
// order. PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions".
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
  matrix::Wgmma instruction;  // descriptors and scale-d are set at each issue
  std::vector<RegisterRef> d, a;
  RegisterRef a_descriptor, b_descriptor;
  RegisterRef accumulate;  // a predicate
  std::vector<RegisterRef> reads() const override;
  std::vector<RegisterRef> writes() const override { return d; }
};

// One instruction, issued by all four warps. Issuing it does not synchronise the warps, so that `clocks` cover only
// what all four are ordered after.
class WgmmaOperation : public AsyncOperation {
 public:
  matrix::Wgmma instruction;
  const WgmmaForm* form = nullptr;
  u32 group = 0;
  std::array<Warp*, kWarpsOfGroup> warps{};
  std::array<check::Clocks, kWarpsOfGroup> warp_clocks;  // for A in shared memory; set only if accesses are checked
  u32 joined = 0;
  bool done = false;

  bool ready() const override { return joined == kWarpsOfGroup; }
  bool perform(Machine& machine) override;

 private:
  std::vector<u8*> registers(const std::vector<RegisterRef>& refs) const;
};

// The warpgroup of warps 4n to 4n + 3 of a block.
struct Warpgroup {
  AsyncQueue queue;
  std::deque<std::shared_ptr<WgmmaOperation>> open;  // operations that some warp has yet to issue
  std::array<u32, kWarpsOfGroup> issued{};           // per warp: number of operations issued
  u32 complete = 0;                                  // number of operations that all four warps have issued
  check::ActorId channel = check::kNoActor;
};

// The wgmma state of one warp.
struct WgmmaState {
  u32 committed = 0;
  std::deque<std::shared_ptr<WgmmaOperation>> pending;  // committed and not waited for
  u32 fence = 0;                                        // number of wgmma.fence executed
  std::vector<u32> touched;  // by register number: 1 + the value of `fence` at the last ordinary access
};

// Records the registers that an instruction accesses, in kernels with wgmma.
void note_register_use(Warp& warp, const Op& op);

}  // namespace tma_jit::emulator
