// All instructions that the emulator knows.
#pragma once

#include "emulator/decode/form.h"

namespace tma_jit::emulator::decode {

const FormTable& all_forms();

}  // namespace tma_jit::emulator::decode
