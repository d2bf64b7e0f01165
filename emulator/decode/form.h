// The instructions that the emulator knows, as a table of forms. What no form admits, down to the last modifier and
// operand, is refused: an instruction that is nearly understood must not run.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/ptx/module.h"

namespace tma_jit::emulator::decode {

class Assembler;

// The least target an instruction needs. Features that later targets lack are named themselves.
enum class Needs : u8 {
  any,
  sm_80,
  sm_90,
  sm_100,         // and later, family-specific or not
  wgmma,          // sm_90a only
  tcgen05,        // sm_100a, sm_101a, sm_103a, sm_110a and their families
  block_scaling,  // sm_120a, sm_121a and their families
  exact_90,       // sm_90a, and every target with a suffix after it: setmaxnreg
};

// What modifiers of one slot say about those of others, as ptxas 13.0 has it. Both sides are alternatives with '|'
// between them: where an instruction has one of `given`, it has one of `others` too, or none of them.
struct Rule {
  enum class Kind : u8 { needs, excludes };
  std::string_view given;
  Kind kind;
  std::string_view others;
};

// `pattern`: the mnemonic, then slots for modifiers. A slot is its alternatives with '|' between them; '?' in front
// lets it be absent. Modifiers may be written in any order, as inline assembly does; one that fits several slots fills
// the first that is free.
//     "ld ?weak|relaxed|acquire|volatile ?global|shared u32|s32"
// `operands`: one letter each, '?' after those that may be left out:
//     d register   q register or predicate p|q   p predicate   s source   P source predicate
//     v vector of registers, or one   a address   i immediate   L label   c call's operands   * any more
struct Form {
  std::string_view pattern;
  std::string_view operands;
  Needs needs = Needs::any;
  void (*build)(Assembler& assembler) = nullptr;
  std::span<const Rule> rules = {};
};

// Which form an instruction is, and what its modifiers chose.
struct Match {
  const Form* form = nullptr;
  std::size_t index = 0;                // of the form among all
  std::vector<std::string_view> slots;  // by slot of the pattern; empty where absent
};

// The forms of all families, by mnemonic, and which of their modifiers instructions have had. Thread-safe.
class FormTable {
 public:
  explicit FormTable(std::span<const std::span<const Form>> families);
  ~FormTable();

  // Throws Fault{unsupported} for what no form admits and what the rules of the form forbid.
  Match match(const ptx::Instruction& instruction) const;
  // An instruction of this form was understood, its operands included.
  void note_tried(const Match& match) const;
  // The patterns of forms that no instruction has had since the process started, in the order of the table; with
  // `modifiers`, also the modifiers that none of a form had: ".relaxed of ld ?weak|relaxed ...".
  std::vector<std::string> untried(bool modifiers) const;

 private:
  struct Rows;
  std::unique_ptr<const Rows> rows_;
};

// Whether a target, e.g. "sm_100a", has what a form needs; and the need in words.
bool has(std::string_view target, Needs needs);
std::string_view words_of(Needs needs);

}  // namespace tma_jit::emulator::decode
