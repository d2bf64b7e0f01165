// tma_jit.Chain: launches that depend on each other.
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "collected.h"
#include "engine.h"
#include "launch.h"
#include "stream.h"

namespace tma_jit::python {
namespace {

// Launches in order, and the arrays of all of them, which an emulated device has in one mirror. Threads that use it at
// a time take turns.
class PythonChain {
 public:
  PythonChain(nb::object engine, const std::vector<KernelRequest>& stages) : engine_(std::move(engine)) {
    auto& engine_of = nb::cast<PythonEngine&>(engine_);
    std::vector<Request> requests = bind(engine_of, stages);
    chain_.emplace(take(unlocked([&] { return engine_of->chain(requests); })));
    for (std::size_t i = 0; i < requests.size(); ++i) mark_outputs((*chain_)[i].plan(), stages[i], requests[i]);
  }
  ~PythonChain() {
    const Unlocked released;
    chain_.reset();
    mirror_.reset();
  }
  PythonChain(const PythonChain&) = delete;
  PythonChain& operator=(const PythonChain&) = delete;

  void run(nb::handle given) {
    const Stream stream = read_stream(given);
    const auto launched = unlocked([&] {
      const std::lock_guard turn(mutex_);
      return mirror_ ? run_mirrored(*mirror_, *chain_, stream) : chain_->launch(stream);
    });
    if (!launched) [[unlikely]]
      raise(launched.error());
  }
  void each_held(auto&& visit) const {
    visit(engine_);
    for (const NamedArray& named : arrays_) named.array.each_held(visit);
  }
  std::size_t size() const { return chain_->size(); }
  std::vector<Plan> plans() const {
    std::vector<Plan> plans;
    for (std::size_t i = 0; i < size(); ++i) plans.push_back((*chain_)[i].plan());
    return plans;
  }

 private:
  std::vector<Request> bind(PythonEngine& engine, const std::vector<KernelRequest>& stages) {
    std::vector<Request> requests;
    std::vector<Tensor*> hosted;
    for (const KernelRequest& stage : stages) {
      requests.push_back(stage.request);
      for (const auto& [name, array] : stage.arrays) {
        check_place(engine, name.c_str(), array);
        requests.back().tensors.push_back({name, array.tensor});
        arrays_.push_back({name, array});
      }
    }
    if (!engine.emulated()) return requests;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      for (std::size_t j = 0; j < stages[i].arrays.size(); ++j) {
        if (stages[i].arrays[j].array.host) hosted.push_back(&requests[i].tensors[j].tensor);
      }
    }
    mirror_ = take(unlocked([&] { return Mirror::of(*engine, hosted); }));
    return requests;
  }

  void mark_outputs(const Plan& plan, const KernelRequest& stage, const Request& request) {
    for (std::size_t i = 0; i < stage.arrays.size(); ++i) {
      if (!is_output(plan, stage.arrays[i].name)) continue;
      check_writable(plan.kernel, stage.arrays[i].name, stage.arrays[i].array);
      if (mirror_) mirror_->mark_output(request.tensors[i].tensor);
    }
  }

  nb::object engine_;
  std::vector<NamedArray> arrays_;
  std::optional<Mirror> mirror_;
  std::optional<Chain> chain_;
  std::mutex mutex_;
};

std::unique_ptr<PythonChain> make_chain(nb::object self, const std::vector<KernelRequest>& stages) {
  return std::make_unique<PythonChain>(std::move(self), stages);
}

}  // namespace

void bind_chain(nb::module_& module, nb::class_<PythonEngine>& engine) {
  nb::class_<PythonChain>(module, "Chain", nb::type_slots(collected<PythonChain>()),
                          "Launches that depend on each other. It keeps their arrays alive.")
      .def("launch", &PythonChain::run, nb::arg("stream") = nb::none(),
           nb::sig("def launch(self, stream: typing.Any = None) -> None"),
           "One call of the driver a stage. On an emulated device the arrays are copied to it before and back after.")
      .def("__call__", &PythonChain::run, nb::arg("stream") = nb::none(),
           nb::sig("def __call__(self, stream: typing.Any = None) -> None"))
      .def_prop_ro("plans", &PythonChain::plans, nb::sig("def plans(self) -> list[Plan]"), "Those of the stages.")
      .def("__len__", &PythonChain::size);

  engine.def(
      "chain", &make_chain, nb::arg("stages"),
      nb::sig("def chain(self, stages: collections.abc.Sequence[Request]) -> Chain"),
      "Prepares requests that are launched in this order with one call; a stage sees what those before it wrote.");
}

}  // namespace tma_jit::python
