// clusterlaunchcontrol: a cluster that runs takes over one that has not been launched yet. PTX ISA 9.0,
// "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel".
#pragma once

#include "emulator/program/program.h"

namespace tma_jit::emulator {

// [a + offset] is given 16 bytes, told to the mbarrier at [b + immediate]; kind 1: in every block of the cluster.
Step do_try_cancel(Warp& warp, const Op& op, Mask active);
// Of the 128 bits a: kind 0: d = whether a cluster was taken; 1 to 3: d = x, y or z of its first block; 4: list = all.
Step do_query_cancel(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator
