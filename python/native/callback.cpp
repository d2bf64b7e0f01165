#include "callback.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace tma_jit::python {
namespace {

std::atomic<bool> ending = false;
std::atomic<int> visits = 0;

}  // namespace

Visit::Visit() {
  ++visits;
  if (ending) {
    --visits;
  } else {
    state_.emplace();
  }
}

Visit::~Visit() {
  if (!state_) return;
  state_.reset();
  --visits;
}

Callback::Callback(nb::handle function, std::string_view name) {
  if (PyCallable_Check(function.ptr()) == 0)
    raise_invalid(std::string(name) + " cannot be " + shown(function) + "; it is a function");
  function_ = std::shared_ptr<nb::object>(new nb::object(nb::borrow(function)), [](nb::object* held) {
    if (const Visit visit; visit) delete held;  // else it ends with the interpreter
  });
}

void watch_for_the_end() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    ending = true;
    const Unlocked released;
    while (visits > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }));
}

}  // namespace tma_jit::python
