// The barrier of a cluster's threads. PTX ISA 9.0, "barrier.cluster".
#pragma once

#include "emulator/machine/machine.h"

namespace tma_jit::emulator {

// Completes the phase if every thread that has not exited has arrived. Called after arrivals and exits.
void check_cluster_barrier(Machine& machine, Cluster& cluster);

}  // namespace tma_jit::emulator
