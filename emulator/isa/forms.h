// The forms of all instructions that the emulator implements.
#pragma once

#include "emulator/decode/form.h"

namespace tma_jit::emulator::isa {

const decode::FormTable& all_forms();

}  // namespace tma_jit::emulator::isa
