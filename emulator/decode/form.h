// The instructions that the emulator implements, as a table of forms. An instruction that matches no form, down to its
// last modifier and operand, is refused.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/ptx/module.h"

namespace tma_jit::emulator::decode {

class Assembler;

// The least target that an instruction requires. Features that later targets lack have enumerators of their own.
enum class Needs : u8 {
  any,
  sm_80,
  sm_89,
  sm_90,
  sm_100,         // and later, family-specific or not
  wgmma,          // sm_90a only
  tcgen05,        // sm_100a, sm_101a, sm_103a, sm_110a and their families
  block_scaling,  // sm_120a, sm_121a and their families
  exact_90,       // sm_90a, and every later target with a suffix: setmaxnreg
};

// A constraint between modifiers of different slots, as ptxas 13.0 enforces it. Both sides are alternatives separated
// by '|': an instruction that has one of `given` must have one of `others`, or must have none of them.
struct Rule {
  enum class Kind : u8 { needs, excludes };
  std::string_view given;
  Kind kind;
  std::string_view others;
};

// `pattern` is the mnemonic, then slots for modifiers. A slot lists its alternatives, separated by '|'; a leading '?'
// makes it optional. Modifiers may be written in any order, as in inline assembly; a modifier that fits several slots
// fills the first free one.
//     "ld ?weak|relaxed|acquire|volatile ?global|shared u32|s32"
// `operands` has one letter per operand, followed by '?' if it is optional:
//     d register   q register or predicate p|q   p predicate   s source   P source predicate
//     v vector of registers, or one   a address   i immediate   L label   c call's operands   * any more
struct Form {
  std::string_view pattern;
  std::string_view operands;
  Needs needs = Needs::any;
  void (*build)(Assembler& assembler) = nullptr;
  std::span<const Rule> rules = {};
};

// The form that an instruction matches, and the modifiers in its slots.
struct Match {
  const Form* form = nullptr;
  std::size_t index = 0;                // of the form in the list of all forms
  std::vector<std::string_view> slots;  // per slot of the pattern; empty if absent
};

// The forms of all families, by mnemonic, and a record of which modifiers have occurred. Thread-safe.
class FormTable {
 public:
  explicit FormTable(std::span<const std::span<const Form>> families);
  ~FormTable();

  // Throws Fault{unsupported} if no form matches or a rule of the form is violated.
  Match match(const ptx::Instruction& instruction) const;
  // Records that an instruction of this form was decoded, including its operands.
  void note_covered(const Match& match) const;
  // Returns the patterns of forms that no instruction has matched since the process started, in the order of the table.
  // With `modifiers`, also returns the modifiers that have not occurred: ".relaxed of ld ?weak|relaxed ...".
  std::vector<std::string> uncovered(bool modifiers) const;

 private:
  struct Rows;
  std::unique_ptr<const Rows> rows_;
};

// Returns what the modifiers need of the target beyond the form, as ptxas 13.0 enforces it.
Needs needs_of_modifiers(const ptx::Instruction& instruction);
// Returns whether a target, e.g. "sm_100a", satisfies the requirement, and the requirement as text.
bool has(std::string_view target, Needs needs);
std::string_view description_of(Needs needs);

}  // namespace tma_jit::emulator::decode
