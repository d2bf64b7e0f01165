// What stops an emulated kernel, or refuses its PTX. Thrown inside the emulator only: the parser and every access of
// every lane may find one, and nothing between there and the driver's table could go on. The table turns it into a
// CUresult and keeps the text.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "emulator/word.h"

namespace tma_jit::emulator {

enum class FaultKind : u8 {
  syntax,         // the text is not PTX
  unsupported,    // PTX that the emulator does not know, or the target does not have
  launch,         // geometry or arguments that the kernel or the target refuses
  too_large,      // a cooperative launch of more blocks than can be resident together
  bounds,         // outside every allocation or window
  alignment,      // an address that is not a multiple of the access
  uninitialised,  // memory read before anything wrote it
  race,           // two accesses that nothing orders
  proxy,          // ordered, but without the fence between two proxies
  in_flight,      // a register that an asynchronous operation still owns
  barrier,        // misuse of a barrier or an mbarrier
  divergence,     // lanes missing at an instruction that needs them all
  deadlock,       // nothing can ever run again
  livelock,       // warps poll for ever and nothing changes
  tensor_map,     // not a tensor map, or not one for this instruction
  descriptor,     // a matrix or instruction descriptor that says something impossible
  tensor_memory,  // allocation, bounds or ownership of tensor memory
  cluster,        // a block of the cluster that is not there, or no longer
  registers,      // the register pool of setmaxnreg
  trap,           // trap, or a failed assertion
  limit,          // the emulator's own limits
};

// "out of bounds", "tensor map"
std::string_view name_of(FaultKind kind);
// What to do about a fault of this kind that says nothing better; empty where the message says it all.
std::string_view advice_of(FaultKind kind);

// `message` says what, with which values; `advice` what to do, and may be empty where advice_of says it. `place` is
// where in the kernel, filled in by whoever knows it, once.
struct Fault {
  FaultKind kind;
  std::string message;
  std::string advice;
  std::string place;

  // "race: ...\n  at ...\n  ..."
  std::string text() const;
};

template <class... Args> [[noreturn]] void stop(FaultKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Fault{kind, fmt::format(format, std::forward<Args>(args)...), {}, {}};
}

}  // namespace tma_jit::emulator
