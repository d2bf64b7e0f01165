// The module tma_jit._native.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tma_jit/device_info.h>
#include <tma_jit/version.h>

#include "engine.h"

// The module's own start, which PyInit__native below calls where it may.
#define PyInit__native start_native

NB_MODULE(_native, module) {
  using namespace tma_jit::python;
  nb::set_leak_warnings(false);  // what is alive when the interpreter ends is no fault of the program's
  watch_for_the_end();
  bind_array(module);
  bind_request(module);
  bind_plan(module);
  nb::class_<PythonEngine> engine = bind_engine(module);
  bind_launch(module, engine);
  bind_chain(module, engine);
  bind_tuning(module, engine);
  module.def("known_devices", &tma_jit::known_devices,
             "The names of the devices that plans can be made for without one.");
  module.attr("version") = text_of(tma_jit::version().library);
  module.attr("commit") = text_of(tma_jit::version().commit);
}

#undef PyInit__native

// The classes belong to one interpreter: a second one that made them again would take them from the first.
// NOLINTNEXTLINE(readability-identifier-naming): the name is Python's
extern "C" NB_EXPORT PyObject* PyInit__native() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return start_native();
  PyErr_SetString(
      PyExc_ImportError,
      "tma_jit works in the main interpreter of a process only, and this is a subinterpreter: use a process "
      "for each, or import it in the main one");
  return nullptr;
}
