// One block of a trace of the emulator: what its warps, copies, products and barriers did, and the critical path.
#pragma once

#include <cstdint>
#include <string>

#include "json.h"
#include "outcome.h"

namespace tma_jit::cli {

// Reads the block of this number from the first launch of a trace. Times are instructions of warps, from the block's
// first. `file` names the trace in errors. Returns
//
//   {"kernel", "arch", "block", "rows": [...], "names": [...], "critical_ticks", "left_out",
//    "events": [[row, begin, end, kind, name, critical], ...]}
//
// where `row` and `name` are indices of the two lists and `kind` is 0 instructions, 1 the issue of an operation, 2 a
// stall, 3 a copy, 4 a product of tensor cores, 5 a phase of an mbarrier.
Outcome<Json> timeline_of(const std::string& file, const Json& trace, std::uint32_t block);

}  // namespace tma_jit::cli
