// The syntax tree of a PTX module, made by the parser and read by the decoder. Names of registers and labels are
// resolved, because they have scopes; names of symbols (variables, functions, parameters) are not.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/ptx/type.h"

namespace tma_jit::emulator::ptx {

// The source location of an instruction, by .loc. `caller` is 1 + the index of the location it was inlined at, or 0.
struct Location {
  u32 file = 0;
  u32 line = 0;
  u32 column = 0;
  u32 caller = 0;
};

struct Operand {
  enum class Kind : u8 {
    reg,      // `index`
    integer,  // `bits`
    real,     // `bits` as `single` says
    symbol,   // `name` + `offset`: a variable, parameter, function or special register; `index` is 1 + its number
              // among the function's variables, 0 where it is none
    label,    // `name`; `index` is the instruction once the body is complete
    vector,   // `parts`
    pair,     // a|b: two `parts`
    address,  // [base + offset] and, in tensor copies, further `parts`: parts[0] is the base
    list,     // (a, b): arguments of a call
    sink,     // _
  };
  Kind kind = Kind::sink;
  bool negated = false;  // !p
  bool single = false;
  u32 index = 0;
  u64 bits = 0;
  s64 offset = 0;
  std::string_view name;
  std::vector<Operand> parts;
};

struct Instruction {
  static constexpr u32 kNone = ~u32{0};
  std::string_view opcode;                  // as in the text
  std::vector<std::string_view> modifiers;  // the opcode's words; the first is the mnemonic
  std::vector<Operand> operands;
  u32 guard = kNone;  // a predicate register
  bool guard_negated = false;
  u32 line = 0;      // of the PTX
  u32 location = 0;  // 1 + index into Module::locations, 0 for none
};

struct Variable {
  std::string_view name;
  Space space = Space::generic;
  Type type = Type::b8;
  u32 alignment = 1;
  u64 elements = 1;
  bool external = false;  // no storage of its own: dynamic shared memory
  u32 line = 0;
  std::vector<u8> content;                              // initial content; may be shorter than the variable
  std::vector<std::pair<u64, std::string_view>> names;  // offsets that hold the address of a symbol

  u64 bytes() const { return elements * static_cast<u64>(size_of(type)); }
};

// The signature of an indirect call: a .callprototype, or a list of possible callees.
struct Prototype {
  std::vector<Variable> parameters;
  std::vector<Variable> results;
  std::vector<std::string_view> targets;  // .calltargets
};

struct Function {
  std::string_view name;
  bool entry = false;
  bool defined = false;  // has a body
  u32 line = 0;
  std::vector<Variable> parameters;
  std::vector<Variable> results;
  std::vector<Variable> variables;  // .local, .shared and .param of the body
  std::vector<Type> registers;
  std::map<std::string_view, Prototype> prototypes;  // by label
  std::vector<Instruction> body;
  std::array<u32, 3> max_threads{};       // .maxntid; zeros if absent
  std::array<u32, 3> required_threads{};  // .reqntid
  std::array<u32, 3> cluster{};           // .reqnctapercluster
  bool explicit_cluster = false;          // .explicitcluster
  u32 min_blocks = 0;
  u32 max_registers = 0;
};

struct Module {
  std::string text;  // every name refers to it
  int version = 0;   // 90 for 9.0
  std::string_view target;
  std::vector<Variable> variables;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<Location> locations;
  std::map<u32, std::string_view> files;

  const Function* function(std::string_view name) const;
  // Returns a text such as "templates/device/ptx/mbarrier.cuh:31, inlined at templates/kernels/gemm_wgmma.cu:120", or
  // an empty string if there is no line.
  std::string location_of(const Instruction& instruction) const;
};

// Throws Fault{syntax} with the line, and no other fault.
std::unique_ptr<const Module> parse(std::string text);

}  // namespace tma_jit::emulator::ptx
