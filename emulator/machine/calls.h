// Calls that have an activation: registers and local memory of their own, a lane at a time, so that lanes may be at
// different depths and in different functions.
#pragma once

#include <array>
#include <vector>

#include "emulator/program/program.h"

namespace tma_jit::emulator {

// Where the actual values of a call are in the caller's local memory.
struct CallForm : FormData {
  struct Value {
    Place address;
    u32 bytes;
  };
  const Callable* callee = nullptr;  // null: the address in Op::a names it
  std::vector<Value> arguments, results;
  std::vector<Place> reads() const override {
    std::vector<Place> places;
    for (const auto* values : {&arguments, &results})
      for (const Value& value : *values) places.push_back(value.address);
    return places;
  }
};

Step do_call(Warp& warp, const Op& op, Mask active);
Step do_return(Warp& warp, const Op& op, Mask active);

// The activations of a warp's lanes. Above the kernel's own local memory each lane has a stack.
class CallStack {
 public:
  explicit CallStack(u32 first) : first_(first) {}

  // Saves what the lane's registers of `callee` hold, and passes the arguments. Throws Fault{limit}.
  void enter(Warp& warp, const Callable& callee, const CallForm& form, int lane, u32 return_to);
  // Undoes it, passes the results; the program counter to go on at.
  u32 leave(Warp& warp, int lane);
  // Null outside the lane's stack.
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
  const u32 first_;  // address of the stacks' first byte
  std::array<Lane, kLanes> lanes_;
};

}  // namespace tma_jit::emulator
