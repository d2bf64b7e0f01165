// A fault stops an emulated kernel or refuses its PTX. Faults are exceptions inside the emulator only: the parser and
// every access of every lane may raise one, and no frame below the driver's table can continue after it. The table
// converts a fault to a CUresult and keeps its text.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "emulator/word.h"

namespace tma_jit::emulator {

enum class FaultKind : u8 {
  syntax,         // the text is not PTX
  unsupported,    // PTX that the emulator does not implement or the target does not have
  launch,         // a geometry or arguments that the kernel or the target does not allow
  too_large,      // a cooperative launch of more blocks than can be resident together
  bounds,         // an access outside every allocation or window
  alignment,      // an address that is not a multiple of the access
  uninitialised,  // a read of memory that has never been written
  race,           // two accesses that are not ordered
  proxy,          // two accesses that are ordered, but without a fence between their proxies
  in_flight,      // a register that an asynchronous operation still owns
  barrier,        // misuse of a barrier or an mbarrier
  divergence,     // lanes missing at an instruction that requires all of them
  deadlock,       // no warp and no operation can run again
  livelock,       // warps poll and no state changes
  tensor_map,     // not a tensor map, or one that does not fit the instruction
  descriptor,     // a matrix or instruction descriptor with invalid fields
  tensor_memory,  // allocation, bounds or ownership of tensor memory
  cluster,        // a block of the cluster that does not exist or has exited
  registers,      // the register pool of setmaxnreg
  trap,           // a trap instruction or a failed assertion
  limit,          // a limit of the emulator itself
};

// Returns the name in reports, e.g. "out of bounds" or "tensor map".
std::string_view name_of(FaultKind kind);
// Returns general advice for this kind of fault, or an empty string if the message is sufficient.
std::string_view advice_of(FaultKind kind);

// `message` describes the fault and the values involved. `advice` says what to do; if it is empty, advice_of() applies.
// `location` names the instructions involved and is filled in once, by the first handler that knows it.
struct Fault {
  FaultKind kind;
  std::string message;
  std::string advice;
  std::string location;

  // "race: ...\n  at ...\n  ..."
  std::string text() const;
};

template <class... Args>
[[noreturn]] void throw_fault(FaultKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Fault{kind, fmt::format(format, std::forward<Args>(args)...), {}, {}};
}

}  // namespace tma_jit::emulator
