// Files with one request per line, as `warm` and `tune` take them.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/warm_list.h>

#include "outcome.h"

namespace tma_jit::cli {

// A line of a list, and its place.
struct ListEntry {
  WarmLine line;
  std::string place;  // "warm.jsonl:12", or the kernel's name on the command line
};

// Appends the lines of a file. Fails at the first malformed one.
Outcome<void> read_list(const std::string& path, std::vector<ListEntry>& entries);

}  // namespace tma_jit::cli
