// Objects that Python's garbage collector looks through, so that it finds cycles that pass through them.
#pragma once

#include <nanobind/nanobind.h>

namespace tma_jit::python {

namespace nb = nanobind;

// T::each_held calls a function with every object of Python that a T owns, once for each reference.
template <class T> int traverse(PyObject* self, visitproc visit, void* argument) {
  if (const int stopped = visit(reinterpret_cast<PyObject*>(Py_TYPE(self)), argument); stopped != 0) return stopped;
  if (!nb::inst_ready(self)) return 0;
  int stopped = 0;
  nb::inst_ptr<T>(self)->each_held([&](nb::handle held) {
    if (stopped == 0 && held.is_valid()) stopped = visit(held.ptr(), argument);
  });
  return stopped;
}

// What nb::type_slots takes for a class of T.
template <class T> PyType_Slot* collected() {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse<T>)}, {0, nullptr}};
  return slots;
}

}  // namespace tma_jit::python
