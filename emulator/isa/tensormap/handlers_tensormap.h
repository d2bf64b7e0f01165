// Modification of tensor maps by kernels.
#pragma once

#include "emulator/program/program.h"
#include "emulator/tensor/tensor_map.h"

namespace tma_jit::emulator::isa {

// Sets field Op::kind of dimension Op::immediate of the map at [a + offset] to b.
Step do_tensormap_replace(Warp& warp, const Op& op, Mask active);
// Fences of the tensor map proxy. The acquire applies to the map at [a + offset].
Step do_tensormap_release(Warp& warp, const Op& op, Mask active);
Step do_tensormap_acquire(Warp& warp, const Op& op, Mask active);
// Copies the map at shared [b + Op::immediate] to global [a + offset], with a fence between the proxies.
Step do_tensormap_copy(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::isa
