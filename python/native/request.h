// A request for a kernel with the arrays that it names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tma_jit/request.h>

#include "array.h"

// The parameters that prepare, plan and all that take a kernel's name have in common, for their signatures in stubs.
#define TMA_JIT_REQUEST_PARAMETERS                                                                                 \
  "kernel: str | Request, *, tensors: collections.abc.Mapping[str, typing.Any] | None = None, "                    \
  "hooks: collections.abc.Mapping[str, str] | None = None, dims: collections.abc.Mapping[str, int] | "             \
  "None = None, types: collections.abc.Mapping[str, typing.Any] | None = None, "                                   \
  "params: collections.abc.Mapping[str, int] | None = None, scalars: collections.abc.Mapping[str, float] "         \
  "| None = None, operands: collections.abc.Iterable[str] = (), fixed: collections.abc.Iterable[str] = "           \
  "(), present: collections.abc.Iterable[str] = (), workspaces: collections.abc.Mapping[str, int] | None "         \
  "= None, file: str = '', sm_budget: int = 0, reference: bool = False, untrusted_hooks: bool = False, **values: " \
  "typing.Any"

namespace tma_jit::python {

struct NamedArray {
  std::string name{};
  Array array{};
};

// Arrays are held as long as this is.
struct KernelRequest {
  Request request{};  // without tensors
  std::vector<NamedArray> arrays{};

  void each_held(auto&& visit) const {
    for (const NamedArray& named : arrays) named.array.each_held(visit);
  }
};

// Reads the words of a call: a Request, or a kernel's name and keywords. A keyword that names no part of a request is a
// scalar if its value is a number, else a tensor.
KernelRequest read_request(const nb::args& args, const nb::kwargs& keywords);

// Returns the values of scalars by name, from a mapping or None.
std::map<std::string, Scalar> read_scalars(nb::handle given);

// Returns whether a keyword of a request names what its plan decides: any part but tensors and scalars.
bool is_part_of_plan(std::string_view keyword);

// Returns an array whose owner is held.
Array held_array(nb::handle object, const std::string& name);

void bind_request(nb::module_& module);

}  // namespace tma_jit::python
