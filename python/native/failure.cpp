#include "failure.h"

#include <cxxabi.h>
#include <unistd.h>

namespace tma_jit::python {

// An ending interpreter gives its lock to no daemon thread: from Python 3.14 on the thread waits for the end of the
// process, before that its stack is unwound, which C++ takes for a failure of the program. So it waits here.
Unlocked::~Unlocked() {
  try {
    PyEval_RestoreThread(state_);
  } catch (const abi::__forced_unwind&) {
    while (true) ::pause();
  }
}

void raise(const Error& error) {
  const nb::object make = nb::module_::import_("tma_jit.errors").attr("exception_of");
  const nb::object exception =
      make(text_of(name_of(error.code)), text_of(name_of(error.reason)), text_of(error.message), text_of(error.detail),
           text_of(error.suggestion), text_of(error.text()));
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

void raise_invalid(std::string message) {
  raise({.code = ErrorCode::invalid_argument, .message = std::move(message)});
}

std::string shown(nb::handle value) {
  const nb::object text = nb::steal(PyUnicode_AsEncodedString(nb::repr(value).ptr(), "utf-8", "backslashreplace"));
  if (!text.is_valid()) throw nb::python_error();
  const nb::bytes bytes(text);
  return {bytes.c_str(), bytes.size()};
}

nb::str text_of(std::string_view text) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::object value_of(std::string_view json) {
  return nb::module_::import_("json").attr("loads")(text_of(json));
}

}  // namespace tma_jit::python
