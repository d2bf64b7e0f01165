// Whether a template's kernels use the Tensor Memory Accelerator.
#pragma once

#include "source/headers.h"
#include "template/template.h"

namespace tma_jit::source {

// Returns whether a tensor has a box, or an #include reaches device/ptx/bulk.cuh or a device/ptx/tma*.cuh; prefetches
// (device/ptx/bulk_prefetch.cuh) do not count. Ignores headers that cannot be found; emission reports them.
bool uses_tma(const templates::Template& kernel, const HeaderLookup& lookup);

}  // namespace tma_jit::source
