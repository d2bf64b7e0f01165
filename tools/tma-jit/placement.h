// The placement of a launch's tensors in memory: paddings between rows, and offsets from an aligned address.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tma_jit/engine.h>

#include "command_line.h"
#include "kernel.h"
#include "layout.h"
#include "outcome.h"
#include "text.h"

namespace tma_jit::cli {

struct PlacementWords {
  std::vector<std::string> pitches;  // --pitch NAME=ELEMENTS
  std::vector<std::string> offsets;  // --offset NAME=ELEMENTS
};

void add_placement_options(Verb verb, PlacementWords& words);

// In elements, by tensor name.
struct Placement {
  std::map<std::string, std::int64_t> pitches;
  std::map<std::string, std::int64_t> offsets;

  // Returns the layout of a plan's tensor: with the given pitch, else the plan's.
  Outcome<Layout> layout(const Argument& argument) const;
  // Returns the elements between an aligned address and the tensor.
  std::int64_t offset(const Argument& argument) const;
};

// Fails if the name already has a value.
template <class Map> Outcome<void> check_once(const Map& values, const char* option, const std::string& name) {
  if (!values.contains(name)) return {};
  return usage("{} {} is given twice", option, name);
}

// Returns whether the argument is a tensor, present or not.
bool is_tensor(const Argument& argument);

// `option` and `word` are for errors. Fails unless the name is one of the kernel's tensors.
Outcome<Pair> tensor_word(const Kernel& kernel, const char* option, const std::string& word);
Outcome<Placement> read_placement(const Kernel& kernel, const PlacementWords& words);

// Fails if a layout is given for a tensor that the request does not have.
Outcome<void> check_placement(const Request& request, const Placement& placement);

// Returns the request with its tensors placed accordingly, at nominal addresses; unchanged without a placement.
Outcome<Request> placed(Engine& engine, Request request, const Placement& placement);
Outcome<Plan> plan_placed(Engine& engine, const Request& request, const Placement& placement);

}  // namespace tma_jit::cli
