// Launches: the driver's checks, then execution on a Machine.
#pragma once

#include "emulator/driver/library.h"

namespace tma_jit::emulator::driver {

// Throws Fault. `arguments` point to the values of the kernel's parameters.
void launch(Kernel& kernel, const CUlaunchConfig& config, void** arguments);
// Returns the number of clusters of that shape that fit on the device at once.
int active_clusters(const Kernel& kernel, const CUlaunchConfig& config);

}  // namespace tma_jit::emulator::driver
