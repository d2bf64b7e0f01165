// Out-of-line calls. Each lane has its own activations, with registers and local memory, so that lanes may be at
// different depths and in different functions.
#pragma once

#include <array>
#include <vector>

#include "emulator/program/program.h"

namespace tma_jit::emulator {

// The locations of a call's actual parameters in the caller's local memory.
struct CallForm : FormData {
  struct Value {
    RegisterRef address;
    u32 bytes;
  };
  const Callable* callee = nullptr;  // null: indirect, through the address in Op::a
  std::vector<Value> arguments, results;
  std::vector<RegisterRef> reads() const override {
    std::vector<RegisterRef> refs;
    for (const auto* values : {&arguments, &results})
      for (const Value& value : *values) refs.push_back(value.address);
    return refs;
  }
};

Step do_call(Warp& warp, const Op& op, Mask active);
Step do_return(Warp& warp, const Op& op, Mask active);

// The activations of a warp's lanes. Each lane has a stack above the kernel's own local memory.
class CallStack {
 public:
  explicit CallStack(u32 first) : first_(first) {}

  // Saves the lane's registers that `callee` uses, and passes the arguments. Throws Fault{limit}.
  void enter(Warp& warp, const Callable& callee, const CallForm& form, int lane, u32 return_to);
  // Restores the registers, passes the results, and returns the program counter to continue at.
  u32 leave(Warp& warp, int lane);
  // Returns null if the range is outside the lane's stack.
  u8* at(u32 address, u32 bytes, int lane);

 private:
  struct Activation {
    const Callable* callee;
    const CallForm* form;
    u32 return_to, base;
    std::vector<u32> results;  // addresses in the caller's local memory
    std::vector<u8> saved;
  };
  struct Lane {
    std::vector<Activation> activations;
    std::vector<u8> bytes;
    std::size_t saved_bytes = 0;
  };
  const u32 first_;  // address of the first byte of the stacks
  std::array<Lane, kLanes> lanes_;
};

}  // namespace tma_jit::emulator
