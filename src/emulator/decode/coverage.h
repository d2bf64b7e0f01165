// Which forms have become part of a program since the process started: what tests have not tried.
#pragma once

#include <string>
#include <vector>

namespace tma_jit::emulator::decode {

struct Match;

// An instruction of this form was understood, its operands included.
void note_tried(const Match& match);

// The patterns of forms that no instruction has had, in the order of the table; with `modifiers`, also the modifiers
// that none of a form had: ".relaxed of ld ?weak|relaxed ...".
std::vector<std::string> untried_forms(bool modifiers);

}  // namespace tma_jit::emulator::decode
