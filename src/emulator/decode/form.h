// The instructions that the emulator knows, as a table of forms. What no form admits, down to the last modifier and
// operand, is refused: an instruction that is nearly understood must not run.
#pragma once

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
};

// Which form an instruction is, and what its modifiers chose.
struct Match {
  const Form* form = nullptr;
  std::size_t index = 0;                // of the form among all
  std::vector<std::string_view> slots;  // by slot of the pattern; empty where absent
};

// A family's forms; each file of forms has one.
std::span<const Form> arithmetic_forms();
std::span<const Form> logic_forms();
std::span<const Form> convert_forms();
std::span<const Form> memory_forms();
std::span<const Form> control_forms();
std::span<const Form> warp_forms();
std::span<const Form> mbarrier_forms();
std::span<const Form> copy_forms();
std::span<const Form> cluster_forms();
std::span<const Form> matrix_forms();
std::span<const Form> tcgen05_forms();
std::span<const Form> tensormap_forms();
std::span<const Form> launch_forms();

// Throws Fault{unsupported}.
Match match(const ptx::Instruction& instruction);

// Whether a target, e.g. "sm_100a", has what a form needs; and the need in words.
bool has(std::string_view target, Needs needs);
std::string_view words_of(Needs needs);

}  // namespace tma_jit::emulator::decode
