// What launches of one kernel and chains of several share.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "engine.h"

namespace tma_jit::python {

inline bool is_output(const Plan& plan, std::string_view name) {
  return std::ranges::any_of(plan.arguments, [&](const Argument& each) { return each.name == name && each.output; });
}

inline void check_writable(std::string_view kernel, const std::string& name, const Array& array) {
  if (array.read_only) raise_invalid(std::string(kernel) + ": " + name + " is an output, and its array is read-only");
}

// Raises unless an array has the type, the shape and the strides that the plan was made for: a rebound tensor is known
// to the library by its address only.
void check_same(const Plan& plan, const NamedArray& named);

// Raises if an array is where the device cannot reach it.
inline void check_place(const PythonEngine& engine, const char* name, const Array& array) {
  if (!engine.emulated() || array.host || array.tensor.address == 0 || !array.object.is_valid()) return;
  if (nb::isinstance<Array>(array.object)) return;  // an address that the caller vouches for
  raise_invalid("tensor " + std::string(name) +
                ": the array is in a GPU's memory, and the engine's device is emulated: give an array of the host");
}

// Runs without the interpreter's lock.
template <class Launches> Result<void> run_mirrored(Mirror& mirror, Launches& launch, Stream stream) {
  if (auto sent = mirror.upload(); !sent) return sent;
  if (auto launched = launch.launch(stream); !launched) return launched;
  return mirror.download();
}

}  // namespace tma_jit::python
