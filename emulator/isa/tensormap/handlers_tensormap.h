// Changes of tensor maps by kernels.
#pragma once

#include "emulator/program/program.h"
#include "emulator/tensor/tensor_map.h"

namespace tma_jit::emulator {

// The map at [a + offset]: field Op::kind of dimension Op::immediate becomes b.
Step do_tensormap_replace(Warp& warp, const Op& op, Mask active);
// The tensor map proxy's fences; the acquire's is of the map at [a + offset].
Step do_tensormap_release(Warp& warp, const Op& op, Mask active);
Step do_tensormap_acquire(Warp& warp, const Op& op, Mask active);
// The map at shared [b + Op::immediate] to global [a + offset]; a fence between the proxies goes with it.
Step do_tensormap_copy(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator
