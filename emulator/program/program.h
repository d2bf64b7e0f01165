// A kernel ready to run: a flat list of operations whose operands are places in a register file. Functions that the
// kernel calls are part of the list: once for each call, or once in all where calls enter them (Callable).
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

// What a handler did with the fragment that runs.
enum class Step : u8 {
  next,   // go on with the instruction after it
  yield,  // the same, but let other warps run first: it polled and found nothing
  moved,  // the handler changed the fragments itself
  wait,   // the fragment waits (Warp::wait_for) and will execute the same instruction again
  pause,  // the fragment waits and will go on with the instruction after it
};

// `active` are the lanes of the current fragment whose guard holds; never empty.
using Handler = Step (*)(Warp& warp, const Op& op, Mask active);

inline constexpr u32 kRegisterUnit = 64;  // bytes: registers begin at multiples of it

// 32 lanes of one operand. A predicate is one Mask.
struct Place {
  enum Bank : u8 { registers, constants, nothing };
  u32 offset = 0;  // bytes into the bank
  Bank bank = nothing;
  u8 width = 0;           // bytes a lane; 0 for a predicate
  bool inverted = false;  // of a predicate

  explicit operator bool() const { return bank != nothing; }
  u32 number() const { return offset / kRegisterUnit; }  // of a register, which no other has
};

// An address operand: a place and a constant.
struct AddressOperand {
  Place base;
  s64 offset = 0;
};

// Lanes that must meet at an instruction before it executes.
enum class Meeting : u8 {
  none,
  all,      // .aligned: every lane of the warp that has not exited
  members,  // those of the mask in Op::members
};

// What a family of instructions knows beyond Op's own fields: derived structs belong to their forms.
struct FormData {
  virtual ~FormData() = default;
  // The places that the handler reads, and those it writes, beside those of Op's own fields.
  virtual std::vector<Place> reads() const { return {}; }
  virtual std::vector<Place> writes() const { return {}; }
};

// What an instruction makes of the values it reads.
enum class Flow : u8 {
  acts,         // something that others may see, or a branch
  computes,     // values of its own lane in registers, and nothing else
  selects,      // the same: a or b by the predicate c
  conjunction,  // the same: a predicate that is false where a or b is
  disjunction,  // the same: a predicate that is true where a or b is
  compares_and,
  compares_or,  // the same: a comparison of a and b, combined so with the predicate c
};

struct Op {
  Handler handler = nullptr;
  LaneFunction lanes = nullptr;
  CompareFunction compare = nullptr;

  Place d, a, b, c, e;             // what each means is the handler's
  Place second;                    // the second destination of p|q
  Place members;                   // the member mask
  std::vector<Place> list;         // the elements of a vector operand
  std::vector<Place> coordinates;  // of a tensor copy, or the second vector operand
  s64 offset = 0;                  // of an address
  u64 immediate = 0;

  ptx::Type type = ptx::Type::none;
  ptx::Space space = ptx::Space::generic;
  u8 vector = 1;
  u16 kind = 0;  // the handler's own: which operation, which rounding
  bool flush = false;
  Meeting meeting = Meeting::none;
  bool guard_negated = false;
  bool copies = false;       // mov: the result is as old as what it was made of
  bool writes_list = false;  // `list` are destinations
  Flow flow = Flow::acts;
  bool gathers = false;            // cp.async, whose groups are kept for a warp: lanes that parted catch up first
  bool touches_in_flight = false;  // wgmma: its own accumulators may be in flight
  Place guard;
  u32 target = 0;  // of a branch
  std::shared_ptr<const FormData> data;
  const ptx::Instruction* source = nullptr;
};

// A place that holds the same value in every instruction of a warp, written when the warp starts.
struct Preset {
  enum class Kind : u8 { special, shared, local, parameter };
  Kind kind;
  Place place;
  std::string_view special;  // "%tid.x"
  u64 value = 0;             // an offset into the space
};

// A function that calls enter with an activation of its own (exec/calls.h).
struct Callable {
  struct Value {
    u32 offset, bytes;  // in the activation's local memory
  };
  struct Address {
    u32 offset;  // in the activation's local memory
    Place place;
  };
  const ptx::Function* function = nullptr;
  u32 entry = 0;  // an op
  u32 local_bytes = 0;
  std::vector<Place> registers;  // all that its code writes
  std::vector<Address> addresses;
  std::vector<Value> parameters, results;
};

struct Program {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  std::vector<Op> ops;
  std::vector<std::shared_ptr<Callable>> callables;  // shared: programs are copied to be changed
  std::map<u64, const Callable*> callables_by_address;
  u32 register_bytes = 0;
  u32 register_numbers() const { return register_bytes / kRegisterUnit + 1; }
  bool uses_wgmma = false;
  std::vector<u8> constants;  // places of 32 equal lanes
  std::vector<Preset> presets;
  u32 shared_bytes = 0;  // static, the reserved part included
  u32 shared_alignment = 16;
  std::map<std::string_view, u64, std::less<>> shared_symbols;  // of the module; kDynamicShared for external ones
  u32 local_bytes = 0;                                          // a thread
  struct Parameter {
    u32 offset, size;
  };
  std::vector<Parameter> parameters;
  u32 parameter_bytes = 0;
};

// The first kilobyte of a block's shared memory belongs to the system from sm_90 on; here on every target, so that no
// variable is at address 0.
inline constexpr u32 kReservedShared = 1024;

// In a preset's value: an offset from the start of dynamic shared memory, known when the program is complete.
inline constexpr u64 kDynamicShared = u64{1} << 40;

// Where a block's dynamic shared memory starts.
u32 dynamic_shared_offset(const Program& program);

}  // namespace tma_jit::emulator
