// Which functions of a module are called out of line, with an activation of their own, and the addresses of functions.
#pragma once

#include <vector>

#include "emulator/ptx/module.h"

namespace tma_jit::emulator::decode {

// Returns the functions below `kernel` that are called out of line, in the order of the module: one function of each
// cycle of calls, those called under a guard that may disable lanes, and, if an indirect call is reachable, all
// functions whose address is taken. All other calls are inlined.
std::vector<const ptx::Function*> out_of_line_functions(const ptx::Module& module, const ptx::Function& kernel);

// Returns an address in the function window, the same for every kernel of the module; 0 if the module does not define
// the function.
u64 function_address(const ptx::Module& module, std::string_view name);

}  // namespace tma_jit::emulator::decode
