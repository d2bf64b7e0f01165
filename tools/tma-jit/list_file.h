// Files of requests, one a line, as `warm` and `tune` take them.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/warm_list.h>

#include "outcome.h"

namespace tma_jit::cli {

// A list's line, and where it stands.
struct ListEntry {
  WarmLine line;
  std::string place;  // "warm.jsonl:12", or the kernel's name on the command line
};

// Adds the lines of a file. Fails with the first that is not one.
Outcome<void> read_list(const std::string& path, std::vector<ListEntry>& entries);

}  // namespace tma_jit::cli
