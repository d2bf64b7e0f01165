// The library's errors as Python's exceptions, and work without the interpreter's lock.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nanobind/nanobind.h>

#include <tma_jit/error.h>

namespace tma_jit::python {

namespace nb = nanobind;

// Raises tma_jit.Error, or the subclass for the error's code and reason. The caller holds the interpreter's lock.
[[noreturn]] void raise(const Error& error);
[[noreturn]] void raise_invalid(std::string message);

// Returns what repr() says, as UTF-8; what UTF-8 cannot hold is escaped.
std::string shown(nb::handle value);

// Returns the value as a T, or raises that `what` cannot be that value.
template <class T> T read_as(nb::handle value, std::string_view what) {
  try {
    return nb::cast<T>(value);
  } catch (const nb::cast_error&) {
    raise_invalid(std::string(what) + " cannot be " + shown(value));
  }
}

// Returns the value, or raises the error.
template <class T> T take(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// Gives the interpreter's lock up for a scope.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// Runs `work` without the interpreter's lock. `work` must not touch Python's objects. Whatever waits for a lock of the
// library runs so: its holder may be waiting for the interpreter's, to call a function for its log.
template <class Work> auto unlocked(Work&& work) {
  const Unlocked released;
  return work();
}

// Returns a str; bytes that are not UTF-8 (in a file name or a compiler log) are replaced.
nb::str text_of(std::string_view text);
// Returns the value of a JSON text.
nb::object value_of(std::string_view json);

}  // namespace tma_jit::python
