// Which functions of a module are called with an activation of their own, and what stands for a function's address.
#pragma once

#include <vector>

#include "emulator/ptx/module.h"

namespace tma_jit::emulator::decode {

// The functions that calls below `kernel` enter for real, in the order of the module: one of each cycle of calls,
// those whose guard may keep lanes out, and, where a call through a register can be reached, all whose address anything
// takes. Every other call is taken in where it stands.
std::vector<const ptx::Function*> entered_functions(const ptx::Module& module, const ptx::Function& kernel);

// A number where no memory is. The same for every kernel of the module; 0 where the module does not define it.
u64 function_address(const ptx::Module& module, std::string_view name);

}  // namespace tma_jit::emulator::decode
