// Whether a template's kernels go through the tensor memory accelerator.
#pragma once

#include "source/headers.h"
#include "template/template.h"

namespace tma_jit::source {

// True when a tensor has a box, or an #include reaches device/ptx/bulk.cuh or a device/ptx/tma*.cuh. A header that
// cannot be found does not count; emission says so.
bool uses_tma(const templates::Template& kernel, const HeaderLookup& lookup);

}  // namespace tma_jit::source
