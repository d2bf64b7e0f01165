// tma_jit.Engine, and what its parts share.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/engine.h>

#include "callback.h"
#include "mirror.h"
#include "request.h"

namespace tma_jit::python {

// The options of an engine, and the functions of Python among them.
struct EngineOptions {
  Options options{};
  std::vector<Callback> callbacks{};
};

// An engine is destroyed without the interpreter's lock, because it waits for threads that may call Python.
class PythonEngine {
 public:
  explicit PythonEngine(EngineOptions given);
  ~PythonEngine();
  PythonEngine(const PythonEngine&) = delete;
  PythonEngine& operator=(const PythonEngine&) = delete;

  Engine& operator*() { return *engine_; }
  Engine* operator->() { return &*engine_; }
  bool emulated() const { return emulated_; }
  void each_held(auto&& visit) const {
    for (const Callback& callback : callbacks_) visit(callback.object());
  }
  void clear_callbacks() const {
    for (const Callback& callback : callbacks_) callback.clear();
  }

 private:
  bool emulated_;
  std::vector<Callback> callbacks_;  // the engine has copies
  std::optional<Engine> engine_;
};

// A request whose tensors have addresses on the engine's device.
struct BoundRequest {
  Request request{};
  std::vector<NamedArray> arrays{};  // with the addresses that the caller gave
  std::optional<Mirror> mirror{};    // of an emulated device

  void each_held(auto&& visit) const {
    for (const NamedArray& named : arrays) named.array.each_held(visit);
  }
};

// Raises if an array is where the device cannot reach it.
BoundRequest bind_arrays(PythonEngine& engine, KernelRequest request);

EngineOptions read_options(nb::handle device, const nb::kwargs& keywords);
// Returns the keywords of an engine with their types and defaults, for stubs.
const char* engine_signature();

// The library's empty path is None.
inline std::optional<std::filesystem::path> path_or_none(std::filesystem::path path) {
  return path.empty() ? std::nullopt : std::optional(std::move(path));
}

// Returns a tma_jit.Launch.
nb::object python_launch(nb::handle engine, BoundRequest bound, Launch launch);

nb::class_<PythonEngine> bind_engine(nb::module_& module);
void bind_launch(nb::module_& module, nb::class_<PythonEngine>& engine);
void bind_chain(nb::module_& module, nb::class_<PythonEngine>& engine);
void bind_plan(nb::module_& module);
void bind_tuning(nb::module_& module, nb::class_<PythonEngine>& engine);

}  // namespace tma_jit::python
