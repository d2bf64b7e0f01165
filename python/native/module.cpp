// The module tma_jit._native.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tma_jit/device_info.h>
#include <tma_jit/version.h>

#include "engine.h"

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
