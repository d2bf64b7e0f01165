// Decoding of a parsed kernel to a program.
#pragma once

#include <memory>

#include "emulator/decode/form.h"
#include "emulator/decode/frame.h"
#include "emulator/program/program.h"
#include "emulator/ptx/module.h"

namespace tma_jit::emulator::decode {

// Decodes a kernel and inlines the functions it calls, each call separately. Throws Fault{unsupported, syntax, limit}
// whose location is the instruction's line. `module` must outlive the program.
std::unique_ptr<const Program> decode(const ptx::Module& module, const ptx::Function& kernel,
                                      const GlobalAddresses& globals, const FormTable& forms);

}  // namespace tma_jit::emulator::decode
