// Python's arrays as tensors: PyTorch's by their attributes, NumPy's and CuPy's by the array interface, others by
// DLPack.
#pragma once

#include <nanobind/ndarray.h>

#include <tma_jit/tensor.h>

#include "failure.h"

namespace tma_jit::python {

// An array's memory. It stays valid as long as `object` and `imported` exist.
struct Array {
  Tensor tensor{};    // rank 0: not given
  bool host = false;  // in memory of the host, not of a device
  bool read_only = false;
  nb::object object{};
  nb::ndarray<nb::ro> imported{};  // what DLPack lent; empty for others

  void each_held(auto&& visit) const { visit(object); }
};

// Reads any array, a tma_jit.Tensor, or None, which stands for an absent tensor. Raises for anything else; `name` is
// the tensor's. `object` is left empty, because a call's arguments outlive the call.
Array read_array(nb::handle object, const char* name);

// Reads "bf16", or an element type of NumPy, PyTorch or JAX.
DType read_dtype(nb::handle type);

void bind_array(nb::module_& module);

}  // namespace tma_jit::python
