// Which forms have become part of a program since the process started: what tests have not tried.
#pragma once

#include <string_view>
#include <vector>

namespace tma_jit::emulator::decode {

struct Match;

// An instruction of this form was understood, its operands included.
void note_tried(const Match& match);

// The patterns of forms that no instruction has had, in the order of the table.
std::vector<std::string_view> untried_patterns();

}  // namespace tma_jit::emulator::decode
