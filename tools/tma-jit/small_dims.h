// Extents for a run that should be short: on the emulator, or beside it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <tma_jit/engine.h>

namespace tma_jit::cli {

// `given`, and a few hundred for each other dim without a value of its own (fewer where a kernel has many): several
// tiles with ragged ends, in tenths of a second. Dims of a short range (a filter's rows, a count of parts) get 4.
std::map<std::string, std::int64_t> small_dims(const KernelInfo& kernel,
                                               const std::map<std::string, std::int64_t>& given = {});

}  // namespace tma_jit::cli
