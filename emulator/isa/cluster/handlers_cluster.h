// Instructions of clusters, of cache policies and of register pools.
#pragma once

#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

Step do_wait_for_launches(Warp& warp, const Op& op, Mask active);  // griddepcontrol.wait
Step do_cluster_arrive(Warp& warp, const Op& op, Mask active);     // kind 1: relaxed
Step do_cluster_wait(Warp& warp, const Op& op, Mask active);
Step do_mapa(Warp& warp, const Op& op, Mask active);           // d = a in block b; kind 1: of a generic address
Step do_get_rank(Warp& warp, const Op& op, Mask active);       // d = the rank in a; kind as above
Step do_policy(Warp& warp, const Op& op, Mask active);         // d = immediate for the fraction a; kind 1: for a range
Step do_set_registers(Warp& warp, const Op& op, Mask active);  // immediate; kind 1: .inc

}  // namespace tma_jit::emulator::isa
