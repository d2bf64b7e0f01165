#include "emulator/decode/form.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <memory>
#include <unordered_map>

#include "emulator/fault.h"

namespace tma_jit::emulator::decode {
namespace {

struct Slot {
  bool optional = false;
  std::vector<std::string_view> choices;
};

struct Pattern {
  const Form* form;
  std::size_t index;  // in the list of all forms
  std::vector<Slot> slots;
};

constexpr std::size_t kMostChoices = 64;  // alternatives of one slot

template <class F> void for_each_part(std::string_view text, char separator, F f) {
  while (true) {
    const std::size_t end = text.find(separator);
    f(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

Slot slot_of(std::string_view text) {
  Slot slot;
  slot.optional = text[0] == '?';
  if (slot.optional) text.remove_prefix(1);
  for_each_part(text, '|', [&](std::string_view choice) { slot.choices.push_back(choice); });
  return slot;
}

}  // namespace

struct FormTable::Rows {
  std::unordered_map<std::string_view, std::vector<Pattern>> by_mnemonic;
  // Indexed by form number.
  std::vector<const Form*> all;
  std::vector<std::vector<Slot>> slots;
  // Per form, whether any instruction matched it; then one mask per slot, with a bit for each alternative that
  // occurred.
  std::vector<std::unique_ptr<std::atomic<u64>[]>> tried;

  void add(std::span<const Form> forms);
};

void FormTable::Rows::add(std::span<const Form> forms) {
  for (const Form& form : forms) {
    Pattern pattern{&form, all.size(), {}};
    all.push_back(&form);
    std::string_view mnemonic;
    for_each_part(form.pattern, ' ', [&](std::string_view word) {
      if (mnemonic.empty()) {
        mnemonic = word;
      } else {
        pattern.slots.push_back(slot_of(word));
      }
    });
    slots.push_back(pattern.slots);
    tried.push_back(std::make_unique<std::atomic<u64>[]>(pattern.slots.size() + 1));
    by_mnemonic[mnemonic].push_back(std::move(pattern));
  }
}

namespace {

bool fits(const Slot& slot, std::string_view modifier) {
  for (const std::string_view choice : slot.choices) {
    if (choice == modifier) return true;
  }
  return false;
}

bool fill(const Pattern& pattern, std::span<const std::string_view> modifiers, std::vector<std::string_view>& filled) {
  filled.assign(pattern.slots.size(), {});
  for (const std::string_view modifier : modifiers) {
    bool taken = false;
    for (std::size_t i = 0; i < pattern.slots.size() && !taken; ++i) {
      if (!filled[i].empty() || !fits(pattern.slots[i], modifier)) continue;
      filled[i] = modifier;
      taken = true;
    }
    if (!taken) return false;
  }
  for (std::size_t i = 0; i < pattern.slots.size(); ++i) {
    if (filled[i].empty() && !pattern.slots[i].optional) return false;
  }
  return true;
}

bool fits(char letter, const ptx::Operand& operand) {
  using Kind = ptx::Operand::Kind;
  const Kind kind = operand.kind;
  const bool plain = kind == Kind::reg || kind == Kind::integer || kind == Kind::real || kind == Kind::symbol;
  switch (letter) {
    case 'd': return kind == Kind::reg || kind == Kind::sink;
    case 'q': return kind == Kind::reg || kind == Kind::pair || kind == Kind::sink;
    case 'p': return kind == Kind::reg || kind == Kind::sink;
    case 's': return plain;
    case 'P': return kind == Kind::reg || kind == Kind::integer;
    case 'v': return plain || kind == Kind::vector || kind == Kind::sink;
    case 'a': return kind == Kind::address;
    case 'i': return kind == Kind::integer;
    case 'L': return kind == Kind::label;
    case 'c': return kind == Kind::list || kind == Kind::symbol || kind == Kind::label;
    default: return false;
  }
}

bool operands_fit(std::string_view letters, const std::vector<ptx::Operand>& operands) {
  std::size_t given = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] == '*') return true;
    const bool optional = i + 1 < letters.size() && letters[i + 1] == '?';
    if (given < operands.size() && fits(letters[i], operands[given])) {
      ++given;
    } else if (!optional) {
      return false;
    }
    if (optional) ++i;
  }
  return given == operands.size();
}

struct Number {
  int value = 0;
  char suffix = ' ';
};
Number number_in(std::string_view target) {
  Number number;
  if (!target.starts_with("sm_")) return number;
  target.remove_prefix(3);
  const auto [end, error] = std::from_chars(target.data(), target.data() + target.size(), number.value);
  if (error == std::errc{} && end != target.data() + target.size()) number.suffix = *end;
  return number;
}

bool has_one_of(const ptx::Instruction& instruction, std::string_view names) {
  bool found = false;
  for_each_part(names, '|', [&](std::string_view name) {
    found = found || std::ranges::find(instruction.modifiers, name) != instruction.modifiers.end();
  });
  return found;
}

void check_rules(const Form& form, const ptx::Instruction& instruction) {
  for (const Rule& rule : form.rules) {
    const bool needs = rule.kind == Rule::Kind::needs;
    if (!has_one_of(instruction, rule.given) || has_one_of(instruction, rule.others) == needs) continue;
    throw_fault(FaultKind::unsupported, "{}: PTX takes {} only with {} {}", instruction.opcode, rule.given,
                needs ? "one of" : "none of", rule.others);
  }
}

}  // namespace

FormTable::FormTable(std::span<const std::span<const Form>> families) {
  auto rows = std::make_unique<Rows>();
  for (const std::span<const Form> forms : families) rows->add(forms);
  rows_ = std::move(rows);
}

FormTable::~FormTable() = default;

Match FormTable::match(const ptx::Instruction& instruction) const {
  const auto& patterns = rows_->by_mnemonic;
  const auto found = patterns.find(instruction.modifiers[0]);
  const std::span<const std::string_view> modifiers = std::span(instruction.modifiers).subspan(1);
  bool modifiers_known = false;
  if (found != patterns.end()) {
    Match result;
    for (const Pattern& pattern : found->second) {
      if (!fill(pattern, modifiers, result.slots)) continue;
      modifiers_known = true;
      if (!operands_fit(pattern.form->operands, instruction.operands)) continue;
      check_rules(*pattern.form, instruction);
      result.form = pattern.form;
      result.index = pattern.index;
      return result;
    }
  }
  throw_fault(FaultKind::unsupported, "the emulator does not know {}{}", instruction.opcode,
              modifiers_known ? " with these operands" : "");
}

void FormTable::note_covered(const Match& match) const {
  const auto& tried = rows_->tried[match.index];
  const auto& slots = rows_->slots[match.index];
  tried[0].store(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto& choices = slots[i].choices;
    const auto found = std::ranges::find(choices, match.slots[i]);
    if (found == choices.end()) continue;
    const u64 bit = u64{1} << static_cast<std::size_t>(found - choices.begin()) % kMostChoices;
    if ((tried[i + 1].load(std::memory_order_relaxed) & bit) == 0) tried[i + 1].fetch_or(bit);
  }
}

std::vector<std::string> FormTable::uncovered(bool modifiers) const {
  std::vector<std::string> missing;
  const Rows& all = *rows_;
  for (std::size_t i = 0; i < all.all.size(); ++i) {
    const std::string_view pattern = all.all[i]->pattern;
    if (all.tried[i][0] == 0) {
      missing.emplace_back(pattern);
      continue;
    }
    for (std::size_t slot = 0; modifiers && slot < all.slots[i].size(); ++slot) {
      const auto& choices = all.slots[i][slot].choices;
      const u64 seen = all.tried[i][slot + 1];
      for (std::size_t k = 0; k < choices.size(); ++k)
        if ((seen >> k % kMostChoices & 1) == 0) missing.push_back(fmt::format(".{} of {}", choices[k], pattern));
    }
  }
  return missing;
}

Needs needs_of_modifiers(const ptx::Instruction& instruction) {
  struct Feature {
    std::string_view mnemonics, given, with;  // alternatives; empty: any
    Needs needs;
  };
  static constexpr Feature kFeatures[] = {
      {"", "cluster|shared::cluster", "", Needs::sm_90},
      {"mbarrier", "try_wait|expect_tx|relaxed", "", Needs::sm_90},
      {"add|sub|mul|ex2|tanh|setp|atom|red", "bf16|bf16x2", "", Needs::sm_90},
      {"cvt", "bf16", "f16|f64|u8|u16|u32|u64|s8|s16|s32|s64", Needs::sm_90},
      {"cvt", "tf32", "rn|rz", Needs::sm_90},
      {"cvt", "e4m3x2|e5m2x2", "", Needs::sm_89},
      {"mma", "e4m3|e5m2", "", Needs::sm_89},
  };
  for (const Feature& feature : kFeatures) {
    const auto has = [&](std::string_view names) { return names.empty() || has_one_of(instruction, names); };
    if (has(feature.mnemonics) && has(feature.given) && has(feature.with)) return feature.needs;
  }
  return Needs::any;
}

bool has(std::string_view target, Needs needs) {
  const Number number = number_in(target);
  const bool exact = number.suffix == 'a' || number.suffix == 'f';
  switch (needs) {
    case Needs::any: return true;
    case Needs::sm_80: return number.value >= 80;
    case Needs::sm_89: return number.value >= 89;
    case Needs::sm_90: return number.value >= 90;
    case Needs::sm_100: return number.value >= 100;
    case Needs::wgmma: return number.value == 90 && exact;
    case Needs::tcgen05: return number.value >= 100 && number.value < 120 && exact;
    case Needs::block_scaling: return number.value >= 120 && number.value < 130 && exact;
    case Needs::exact_90: return number.value >= 90 && exact;
  }
  return false;
}

std::string_view description_of(Needs needs) {
  static constexpr std::array<std::string_view, 9> kWords = {
      "any target",         "sm_80 or newer",     "sm_89 or newer",
      "sm_90 or newer",     "sm_100 or newer",    "sm_90a",
      "sm_100a to sm_110a", "sm_120a or sm_121a", "a target with a suffix, sm_90a or newer"};
  return kWords[static_cast<std::size_t>(needs)];
}

}  // namespace tma_jit::emulator::decode
