// What `report` draws: the JSON objects that other verbs print, recognised by their fields.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json.h"
#include "outcome.h"

namespace tma_jit::cli {

// One measurement, tuning, estimate, examination, timeline or snapshot of an engine's counters.
struct ReportInput {
  std::string file;  // as the user named it
  std::string kind;  // "bench", "sweep", "tune", "estimate", "doctor", "timeline" or "stats"
  Json data;
};

// Appends what a file has: one object, an array of objects, or objects one after another. `block` is the block of a
// trace, linear in the grid of its first launch. Fails, naming the file, unless all of it is known.
Outcome<void> read_report_input(const std::string& file, std::uint32_t block, std::vector<ReportInput>& inputs);

}  // namespace tma_jit::cli
