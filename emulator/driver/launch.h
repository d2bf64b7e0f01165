// A launch: the driver's checks, then the machine.
#pragma once

#include "emulator/driver/library.h"

namespace tma_jit::emulator {

// Throws Fault. `arguments` are pointers to the values of the kernel's parameters.
void launch(Kernel& kernel, const CUlaunchConfig& config, void** arguments);
// How many clusters of that shape fit on the device at once; 0 where none does.
int active_clusters(const Kernel& kernel, const CUlaunchConfig& config);

}  // namespace tma_jit::emulator
