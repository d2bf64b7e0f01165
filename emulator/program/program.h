// A decoded kernel: a flat list of operations whose operands are in a register file. Functions that the kernel calls
// are part of the list: inlined once for each call, or out of line (Callable).
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "emulator/program/lanes.h"
#include "emulator/ptx/module.h"
#include "emulator/word.h"

namespace tma_jit::emulator {

class Warp;
struct Op;

// What a handler did with the current subwarp.
enum class Step : u8 {
  next,   // continue with the next instruction
  yield,  // the same, but let other warps run first, because a poll failed
  moved,  // the handler changed the subwarps itself
  wait,   // the subwarp waits (Warp::wait_for) and executes the same instruction again
  pause,  // the subwarp waits and continues with the next instruction
};

// `active` are the lanes of the current subwarp whose guard holds; never empty.
using Handler = Step (*)(Warp& warp, const Op& op, Mask active);

inline constexpr u32 kRegisterUnit = 64;  // in bytes: registers begin at multiples of it

// A reference to the 32 lanes of a register or of a constant. A predicate is one Mask.
struct RegisterRef {
  enum Bank : u8 { registers, constants, nothing };
  u32 offset = 0;  // bytes into the bank
  Bank bank = nothing;
  u8 width = 0;           // in bytes per lane; 0 for a predicate
  bool inverted = false;  // of a predicate

  explicit operator bool() const { return bank != nothing; }
  u32 number() const { return offset / kRegisterUnit; }  // the unique number of a register
};

// An address operand: a register or constant plus an immediate offset.
struct AddressOperand {
  RegisterRef base;
  s64 offset = 0;
};

// The lanes that must have converged at an instruction before it executes.
enum class Convergence : u8 {
  none,
  all,      // .aligned: every lane of the warp that has not exited
  members,  // the lanes of the mask in Op::members
};

// Operands of an instruction beyond the fields of Op. Each family derives structs of its own.
struct FormData {
  virtual ~FormData() = default;
  // Return the registers that the handler reads and writes, beyond those in Op.
  virtual std::vector<RegisterRef> reads() const { return {}; }
  virtual std::vector<RegisterRef> writes() const { return {}; }
};

// How taint propagates through an instruction (machine/taint.h).
enum class Flow : u8 {
  sink,         // not at all: the instruction has effects that other threads may observe, or branches
  computes,     // to the results, which are registers of the same lane
  selects,      // the same: the result is a or b, selected by the predicate c
  conjunction,  // the same: a predicate that is false if a or b is
  disjunction,  // the same: a predicate that is true if a or b is
  compares_and,
  compares_or,  // the same: a comparison of a and b, combined in this way with the predicate c
};

struct Op {
  Handler handler = nullptr;
  LaneFunction lanes = nullptr;
  CompareFunction compare = nullptr;

  RegisterRef d, a, b, c, e;             // their meaning depends on the handler
  RegisterRef second;                    // the second destination of p|q
  RegisterRef members;                   // the member mask
  std::vector<RegisterRef> list;         // the elements of a vector operand
  std::vector<RegisterRef> coordinates;  // of a tensor copy, or the second vector operand
  s64 offset = 0;                        // of an address
  u64 immediate = 0;

  ptx::Type type = ptx::Type::none;
  ptx::Space space = ptx::Space::generic;
  u8 vector = 1;
  u16 kind = 0;  // the handler's own: which operation, which rounding
  bool flush = false;
  Convergence convergence = Convergence::none;
  bool guard_negated = false;
  bool is_move = false;      // mov: the result is as old as its source
  bool writes_list = false;  // `list` are destinations
  Flow flow = Flow::sink;
  bool ends_delays = false;        // cp.async, whose groups are per warp: delayed subwarps catch up first
  bool touches_in_flight = false;  // wgmma: its own accumulators may be in flight
  RegisterRef guard;
  u32 target = 0;  // of a branch
  std::shared_ptr<const FormData> data;
  const ptx::Instruction* source = nullptr;
};

// A register that holds the same value throughout a warp's execution, written when the warp starts.
struct Preset {
  enum class Kind : u8 { special, shared, local, parameter };
  Kind kind;
  RegisterRef reg;
  std::string_view special;  // "%tid.x"
  u64 value = 0;             // an offset into the space
};

// A function that is called out of line, with an activation of its own (machine/activations.h).
struct Callable {
  struct Value {
    u32 offset, bytes;  // in the activation's local memory
  };
  struct Address {
    u32 offset;  // in the activation's local memory
    RegisterRef reg;
  };
  const ptx::Function* function = nullptr;
  u32 entry = 0;  // index of its first op
  u32 local_bytes = 0;
  std::vector<RegisterRef> registers;  // all registers that its code writes
  std::vector<Address> addresses;
  std::vector<Value> parameters, results;
};

struct Program {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  std::vector<Op> ops;
  std::vector<std::shared_ptr<Callable>> callables;  // shared, because mutation tests copy programs
  std::map<u64, const Callable*> callables_by_address;
  u32 register_bytes = 0;
  u32 register_numbers() const { return register_bytes / kRegisterUnit + 1; }
  bool uses_wgmma = false;
  std::vector<u8> constants;  // 32 equal lanes per constant
  std::vector<Preset> presets;
  u32 shared_bytes = 0;  // static, including the reserved part
  u32 shared_alignment = 16;
  std::map<std::string_view, u64, std::less<>> shared_symbols;  // by name; kDynamicShared for external ones
  u32 local_bytes = 0;                                          // per thread
  struct Parameter {
    u32 offset, size;
  };
  std::vector<Parameter> parameters;
  u32 parameter_bytes = 0;
};

// The system reserves the first kilobyte of a block's shared memory from sm_90 on. The emulator reserves it on every
// target, so that no variable is at address 0.
inline constexpr u32 kReservedShared = 1024;

// In the value of a preset: an offset from the start of dynamic shared memory, which is known when the program is
// complete.
inline constexpr u64 kDynamicShared = u64{1} << 40;

// Returns the offset of a block's dynamic shared memory.
u32 dynamic_shared_offset(const Program& program);

}  // namespace tma_jit::emulator
