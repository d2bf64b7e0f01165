// The options about the tensors of a launch: files, paddings, offsets and the random data for the others.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "command_line.h"
#include "kernel.h"
#include "npy.h"
#include "outcome.h"
#include "placement.h"
#include "random_data.h"

namespace tma_jit::cli {

struct DataWords {
  std::vector<std::string> inputs;   // --in NAME=FILE
  std::vector<std::string> outputs;  // --out NAME=FILE
  PlacementWords placement;
  std::string kind = "normal";  // --data
  std::uint64_t seed = 0;       // --seed
};

// --pitch, --offset, --data, --seed
void add_data_options(Verb verb, DataWords& words);
// --in, --out
void add_file_options(Verb verb, DataWords& words);

// The content of an input file. A raw file has no type or shape.
struct InputFile {
  std::string path;
  bool raw = false;
  Array array;
};

struct DataChoices {
  std::map<std::string, InputFile> inputs;
  std::map<std::string, std::string> outputs;
  Placement placement;
  Recipe recipe;
  bool consistent = false;  // inputs that depend on others are computed from them, where the template says how
  bool bare = false;        // nothing beside inputs is written, so that an emulated device reports what reads there
};

// Looks up names among the kernel's tensors and reads the input files.
[[nodiscard]] Outcome<DataChoices> read_data_options(const Kernel& kernel, const DataWords& words);

// Fills dims and types that the request leaves open from the shapes and types of .npy inputs, according to the first
// file of the kernel whose tensors have those ranks. Plans these tensors as present.
[[nodiscard]] Outcome<void> infer_from_inputs(const Kernel& kernel, const DataChoices& choices, Request& request);

}  // namespace tma_jit::cli
