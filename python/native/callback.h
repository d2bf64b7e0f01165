// Functions of Python that threads of the library call.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "failure.h"

namespace tma_jit::python {

// A thread's visit to the interpreter: it holds the lock, unless the program is ending. A thread that asked an ending
// interpreter for its lock would never return.
class Visit {
 public:
  Visit();
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  explicit operator bool() const { return state_.has_value(); }

 private:
  std::optional<nb::gil_scoped_acquire> state_;
};

// A function of Python that any thread may copy, call and destroy.
class Callback {
 public:
  // Raises if it is none; `name` is what the caller calls it.
  Callback(nb::handle function, std::string_view name);

  nb::handle object() const { return *function_; }
  // Forgets the function, of this and all copies; from then on a call does nothing. Needs the interpreter's lock.
  void clear() const { *function_ = nb::object(); }

  // Calls it with what `arguments` returns, which is called with the interpreter's lock. What it raises is reported as
  // Python reports what a destructor raises; `where` says in which function.
  template <class Arguments> void operator()(const char* where, const Arguments& arguments) const {
    call(where, [&](const nb::object& function) { function(*arguments()); });
  }

  // Likewise, without arguments. False if what it returns is false, if it raises, and if there is nothing to call.
  bool is_true(const char* where) const {
    bool result = false;
    call(where, [&](const nb::object& function) { result = nb::cast<bool>(nb::bool_(function())); });
    return result;
  }

 private:
  template <class Call> void call(const char* where, const Call& call) const {
    const Visit visit;
    if (!visit || !function_->is_valid()) return;
    const nb::object function = *function_;  // lives until it returns, also if it is cleared meanwhile
    try {
      call(function);
    } catch (nb::python_error& error) {
      error.discard_as_unraisable(where);
    }
  }

  std::shared_ptr<nb::object> function_;
};

// Has Python say when the program ends; from then on nothing is called, and visits that have begun are waited for.
void watch_for_the_end();

}  // namespace tma_jit::python
