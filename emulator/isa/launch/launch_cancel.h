// clusterlaunchcontrol: a running cluster cancels the launch of another and takes over its work. PTX ISA 9.0,
// "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel".
#pragma once

#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

// Writes 16 bytes to [a + offset] and completes them on the mbarrier at [b + immediate]. kind 1: in every block of the
// cluster.
Step do_try_cancel(Warp& warp, const Op& op, Mask active);
// Decodes the 128 bits a. kind 0: d = whether a cluster was cancelled; 1 to 3: d = x, y or z of its first block; 4:
// list = all three.
Step do_query_cancel(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::isa
