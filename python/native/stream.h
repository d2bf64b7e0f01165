// Python's streams as CUDA's.
#pragma once

#include <tma_jit/launch.h>

#include "failure.h"

namespace tma_jit::python {

// Reads None (the legacy default stream), an address, a stream of PyTorch or CuPy, or any object with __cuda_stream__.
Stream read_stream(nb::handle stream);

}  // namespace tma_jit::python
