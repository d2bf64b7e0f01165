// Ranges of extents: `--sweep M=64..8192` and what it stands for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "outcome.h"

namespace tma_jit::cli {

struct Sweep {
  std::vector<std::string> names;  // they have the same value in each step
  std::vector<std::int64_t> values;
};

// Reads NAME=FIRST..LAST, whose values double from FIRST as long as they are at most LAST, or NAME=FIRST..LAST:STEP.
// Several names, separated by commas, go together.
[[nodiscard]] Outcome<Sweep> read_sweep(const std::string& word);

}  // namespace tma_jit::cli
