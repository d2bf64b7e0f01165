// tma_jit.Launch, Function and Preparation: nothing of Python runs between a call and the driver.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "collected.h"
#include "duration.h"
#include "engine.h"
#include "launch.h"
#include "stream.h"

namespace tma_jit::python {
namespace {

constexpr std::size_t kTensorsMax = 32;  // of a Function

// A launch and its arrays. Threads that use it at a time take turns; who waits for one's turn has released the
// interpreter's lock.
class PythonLaunch {
 public:
  PythonLaunch(nb::object engine, BoundRequest bound, Launch launch)
      : engine_(std::move(engine)), bound_(std::move(bound)), launch_(std::move(launch)) {
    for (const auto& [name, array] : bound_.arrays) {
      if (is_output(launch_.plan(), name)) check_writable(launch_.plan().kernel, name, array);
    }
    mark_outputs();
  }
  ~PythonLaunch() {
    const Unlocked released;
    const Launch ended = std::move(launch_);
    bound_.mirror.reset();
  }
  PythonLaunch(const PythonLaunch&) = delete;
  PythonLaunch& operator=(const PythonLaunch&) = delete;

  void run(nb::handle given) {
    const Stream stream = read_stream(given);
    auto launched = unlocked([&] {
      const std::lock_guard turn(mutex_);
      return bound_.mirror ? run_mirrored(*bound_.mirror, launch_, stream) : launch_.launch(stream);
    });
    if (!launched) [[unlikely]]
      raise(launched.error());
  }

  // A launch in another thread runs before all of it or after all of it.
  void rebind(const nb::kwargs& tensors) {
    std::vector<BoundRequest> replaced;  // ends after the turn, because the end of an array may launch this again
    std::unique_lock turn(mutex_, std::defer_lock);
    unlocked([&] { turn.lock(); });
    for (const auto [name, object] : tensors) {
      rebind_one(read_as<std::string>(name, "a tensor's name"), object, replaced.emplace_back());
    }
  }

  void each_held(auto&& visit) const {
    visit(engine_);
    bound_.each_held(visit);
  }
  const Plan& plan() const { return launch_.plan(); }
  const Artifact& artifact() const { return launch_.artifact(); }

 private:
  PythonEngine& engine() { return nb::cast<PythonEngine&>(engine_); }

  // Leaves in `changed` what it replaces.
  void rebind_one(const std::string& name, nb::handle object, BoundRequest& changed) {
    if (PyLong_Check(object.ptr())) return take(moved(name, read_as<std::uint64_t>(object, "the address of " + name)));
    NamedArray named{name, held_array(object, name)};
    check_same(plan(), named);
    if (is_output(plan(), name)) check_writable(plan().kernel, name, named.array);
    changed.arrays = bound_.arrays;
    std::erase_if(changed.arrays, [&](const NamedArray& each) { return each.name == name; });
    changed.arrays.push_back(std::move(named));
    if (engine().emulated()) {
      changed = bind_arrays(engine(), {{}, std::move(changed.arrays)});
      if (const auto rebound = moved_to(changed.request.tensors); !rebound) {
        static_cast<void>(moved_to(bound_.request.tensors));
        raise(rebound.error());
      }
    } else {
      take(moved(name, changed.arrays.back().array.tensor.address));
    }
    std::swap(bound_, changed);
    mark_outputs();
  }

  Result<void> moved(const std::string& name, std::uint64_t address) {
    return unlocked([&] { return launch_.rebind(name, address); });
  }

  Result<void> moved_to(const std::vector<NamedTensor>& tensors) {
    for (const auto& [name, tensor] : tensors) {
      if (auto rebound = moved(name, tensor.address); !rebound) return rebound;
    }
    return {};
  }

  void mark_outputs() {
    if (!bound_.mirror) return;
    for (const NamedTensor& tensor : bound_.request.tensors) {
      if (is_output(plan(), tensor.name)) bound_.mirror->mark_output(tensor.tensor);
    }
  }

  nb::object engine_;  // its device has the mirror's memory
  std::mutex mutex_;   // of all below
  BoundRequest bound_;
  Launch launch_;
};

// The outputs of a kernel by name, from all files that the engine has of it.
std::vector<std::string> outputs_of(PythonEngine& engine, const std::string& kernel, std::vector<std::string>& all) {
  std::vector<std::string> outputs;
  for (const Result<KernelInfo>& info : unlocked([&] { return engine->kernels(kernel); })) {
    if (!info) continue;
    all.clear();
    for (const KernelInfo::Tensor& tensor : info->tensors) {
      all.push_back(tensor.name);
      if (tensor.output) outputs.push_back(tensor.name);
    }
  }
  return outputs;
}

class PythonFunction {
 public:
  PythonFunction(nb::object engine, const Request& request, Function function)
      : engine_(std::move(engine)), kernel_(request.kernel), function_(std::move(function)) {
    const auto outputs = outputs_of(nb::cast<PythonEngine&>(engine_), request.kernel, names_);
    for (const std::string& name : names_) output_.push_back(std::ranges::find(outputs, name) != outputs.end());
    for (const std::string& operand : request.operands) {
      if (operand.find('[') == std::string::npos) continue;  // a scalar
      names_.push_back(operand.substr(0, operand.find_first_of(" :")));
      output_.push_back(false);
    }
  }

  ~PythonFunction() {
    const Unlocked released;
    const Function ended = std::move(function_);
  }
  PythonFunction(const PythonFunction&) = delete;
  PythonFunction& operator=(const PythonFunction&) = delete;

  void call(const nb::args& given, nb::handle given_stream, nb::handle given_scalars) {
    const Stream stream = read_stream(given_stream);
    const std::map<std::string, Scalar> scalars = read_scalars(given_scalars);
    const std::size_t count = given.size();
    if (count > kTensorsMax) raise_invalid(kernel_ + ": a function takes at most 32 tensors");
    const auto& usual = function_.usual_tensors();
    const bool shortened = count != names_.size() && count == usual.size();
    std::array<Tensor, kTensorsMax> tensors;
    std::vector<Tensor*> hosted;
    std::vector<nb::ndarray<nb::ro>> imported;
    auto& engine = nb::cast<PythonEngine&>(engine_);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = shortened ? usual[i] : i;
      const char* const name = place < names_.size() ? names_[place].c_str() : "?";
      Array array = read_array(given[i], name);
      if (place < output_.size() && output_[place]) check_writable(kernel_, name, array);
      if (array.tensor.rank > 0 && array.host != engine.emulated() && !nb::isinstance<Array>(given[i])) [[unlikely]]
        refuse_place(name, array.host);
      tensors[place] = array.tensor;
      if (array.host && engine.emulated()) hosted.push_back(&tensors[place]);
      if (array.imported.is_valid()) imported.push_back(std::move(array.imported));
    }
    const std::size_t all = shortened ? names_.size() : count;
    auto called = unlocked([&] {
      return engine.emulated() ? call_mirrored(engine, {tensors.data(), all}, hosted, scalars, stream)
                               : function_(tensors.data(), all, scalars, stream);
    });
    if (!called) [[unlikely]]
      raise(called.error());
  }

  const std::vector<std::string>& names() const { return names_; }
  void each_held(auto&& visit) const { visit(engine_); }

 private:
  [[noreturn]] void refuse_place(const char* name, bool host) const {
    raise_invalid(kernel_ + ": tensor " + name +
                  (host ? " is in the host's memory, and a function of a GPU takes arrays of the GPU"
                        : " is in a GPU's memory, and the engine's device is emulated"));
  }

  // `hosted` are those of the tensors that are in the host's memory.
  Result<void> call_mirrored(PythonEngine& engine, std::span<const Tensor> tensors, std::span<Tensor* const> hosted,
                             const std::map<std::string, Scalar>& scalars, Stream stream) {
    auto mirror = Mirror::of(*engine, hosted);
    if (!mirror) return tl::make_unexpected(std::move(mirror).error());
    for (std::size_t i = 0; i < std::min(tensors.size(), output_.size()); ++i) {
      if (output_[i]) mirror->mark_output(tensors[i]);
    }
    if (auto sent = mirror->upload(); !sent) return sent;
    if (auto called = function_(tensors.data(), tensors.size(), scalars, stream); !called) return called;
    return mirror->download();
  }

  nb::object engine_;
  std::string kernel_;
  std::vector<std::string> names_;
  std::vector<bool> output_;
  Function function_;
};

class PythonPreparation {
 public:
  PythonPreparation(nb::object engine, std::vector<BoundRequest> bound, std::optional<Callback> progress,
                    Preparation preparation)
      : engine_(std::move(engine)),
        bound_(std::move(bound)),
        progress_(std::move(progress)),
        preparation_(std::move(preparation)) {}
  ~PythonPreparation() {
    const Unlocked released;
    preparation_.reset();  // waits for threads that may report progress to Python
  }
  PythonPreparation(const PythonPreparation&) = delete;
  PythonPreparation& operator=(const PythonPreparation&) = delete;

  std::size_t total() const {
    return unlocked([&] { return preparation_->total(); });
  }
  std::size_t done() const {
    return unlocked([&] { return preparation_->done(); });
  }
  void cancel() {
    unlocked([&] { preparation_->cancel(); });
  }
  // Looks from time to time whether Control-C was pressed.
  bool wait(std::optional<double> seconds) {
    using Clock = std::chrono::steady_clock;
    if (seconds && std::isnan(*seconds)) raise_invalid("timeout_s cannot be nan");
    std::chrono::milliseconds left = seconds ? milliseconds_of(*seconds) : std::chrono::milliseconds::max();
    while (true) {
      const auto start = Clock::now();
      if (unlocked([&] { return preparation_->wait_for(std::min(left, kLook)); })) break;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      left -= std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - start);
      if (left.count() <= 0) return false;
    }
    if (!seconds) unlocked([&] { preparation_->wait(); });
    return true;
  }
  nb::object taken(std::size_t index) {
    Launch launch = take(unlocked([&] { return preparation_->take(index); }));
    return python_launch(engine_, std::move(bound_[index]), std::move(launch));
  }
  void each_held(auto&& visit) const {
    visit(engine_);
    for (const BoundRequest& bound : bound_) bound.each_held(visit);
    if (progress_) visit(progress_->object());
  }

 private:
  static constexpr std::chrono::milliseconds kLook{50};

  nb::object engine_;
  std::vector<BoundRequest> bound_;
  std::optional<Callback> progress_;  // the preparation has a copy
  std::optional<Preparation> preparation_;
};

std::function<void(std::size_t, std::size_t)> progress_to(const std::optional<Callback>& function) {
  if (!function) return {};
  return [callback = *function](std::size_t done, std::size_t total) {
    callback("progress of Engine.prepare_async", [&] { return nb::make_tuple(done, total); });
  };
}

std::unique_ptr<PythonPreparation> prepare_async(nb::object self, const std::vector<KernelRequest>& requests,
                                                 int threads, nb::handle progress) {
  auto& engine = nb::cast<PythonEngine&>(self);
  std::optional<Callback> callback;
  if (!progress.is_none()) callback.emplace(progress, "progress");
  std::vector<BoundRequest> bound;
  std::vector<Request> plain;
  for (const KernelRequest& request : requests) {
    bound.push_back(bind_arrays(engine, request));
    plain.push_back(bound.back().request);
  }
  PrepareOptions options{.threads = threads, .progress = progress_to(callback)};
  Preparation preparation = unlocked([&] { return engine->prepare_async(std::move(plain), std::move(options)); });
  return std::make_unique<PythonPreparation>(std::move(self), std::move(bound), std::move(callback),
                                             std::move(preparation));
}

std::unique_ptr<PythonFunction> make_function(nb::object self, const nb::args& args, const nb::kwargs& keywords) {
  const KernelRequest request = read_request(args, keywords);
  if (!request.arrays.empty()) raise_invalid("a function's request gives no tensors; each call does");
  auto& engine = nb::cast<PythonEngine&>(self);
  Function function = take(unlocked([&] { return engine->function(request.request); }));
  return std::make_unique<PythonFunction>(std::move(self), request.request, std::move(function));
}

}  // namespace

void check_same(const Plan& plan, const NamedArray& named) {
  const Tensor& tensor = named.array.tensor;
  for (const Argument& each : plan.arguments) {
    if (each.name != named.name || each.shape.empty()) continue;
    const auto rank = static_cast<std::size_t>(tensor.rank);
    bool same = each.dtype == tensor.dtype && each.shape.size() == rank;
    for (std::size_t i = 0; same && i < rank; ++i) {  // nothing steps over one element
      same = each.shape[i] == tensor.shape[i] && (each.shape[i] == 1 || each.strides[i] == tensor.strides[i]);
    }
    if (same) return;
    raise_invalid(plan.kernel + ": " + named.name +
                  " is rebound to an array of another type, shape or strides; prepare another launch for that");
  }
}

BoundRequest bind_arrays(PythonEngine& engine, KernelRequest request) {
  BoundRequest bound{std::move(request.request), std::move(request.arrays), {}};
  std::vector<Tensor*> hosted;
  for (const auto& [name, array] : bound.arrays) {
    check_place(engine, name.c_str(), array);
    bound.request.tensors.push_back({name, array.tensor});
  }
  if (!engine.emulated()) return bound;
  for (std::size_t i = 0; i < bound.arrays.size(); ++i) {
    if (bound.arrays[i].array.host) hosted.push_back(&bound.request.tensors[i].tensor);
  }
  bound.mirror = take(unlocked([&] { return Mirror::of(*engine, hosted); }));
  return bound;
}

nb::object python_launch(nb::handle engine, BoundRequest bound, Launch launch) {
  return nb::cast(std::make_unique<PythonLaunch>(nb::borrow(engine), std::move(bound), std::move(launch)));
}

void bind_launch(nb::module_& module, nb::class_<PythonEngine>& engine) {
  nb::class_<PythonLaunch>(module, "Launch", nb::type_slots(collected<PythonLaunch>()),
                           "A loaded kernel with its arguments. It keeps its arrays alive.")
      .def("launch", &PythonLaunch::run, nb::arg("stream") = nb::none(),
           nb::sig("def launch(self, stream: typing.Any = None) -> None"),
           "One call of the driver. On an emulated device the arrays are copied to it before and back after.")
      .def("__call__", &PythonLaunch::run, nb::arg("stream") = nb::none(),
           nb::sig("def __call__(self, stream: typing.Any = None) -> None"))
      .def("rebind", &PythonLaunch::rebind, nb::sig("def rebind(self, **tensors: typing.Any) -> None"),
           "Other arrays of the same types, shapes and strides, or addresses on the device.")
      .def_prop_ro("plan", &PythonLaunch::plan, nb::rv_policy::copy)
      .def_prop_ro("artifact", &PythonLaunch::artifact, nb::rv_policy::copy);

  nb::class_<PythonFunction>(module, "Function", nb::type_slots(collected<PythonFunction>()),
                             "A kernel that finds or prepares the launch for the shapes of each call.")
      .def("__call__", &PythonFunction::call, nb::arg("tensors"), nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("scalars") = nb::none(),
           nb::sig("def __call__(self, *tensors: typing.Any, stream: typing.Any = None, scalars: "
                   "collections.abc.Mapping[str, float] | None = None) -> None"),
           "Tensors in the order of `tensors`; None stands for an absent one. `scalars` replace values of the request.")
      .def_prop_ro(
          "tensors", [](const PythonFunction& self) { return nb::tuple(nb::cast(self.names())); },
          nb::sig("def tensors(self) -> tuple[str, ...]"));

  nb::class_<PythonPreparation>(module, "Preparation", nb::type_slots(collected<PythonPreparation>()),
                                "Launches that are prepared in the background.")
      .def_prop_ro("total", &PythonPreparation::total)
      .def_prop_ro("done", &PythonPreparation::done)
      .def("cancel", &PythonPreparation::cancel, "Cancels the requests that have not begun.")
      .def("wait", &PythonPreparation::wait, nb::arg("timeout_s") = nb::none(),
           "Returns False if the time is over first.")
      .def("take", &PythonPreparation::taken, nb::arg("index"), nb::sig("def take(self, index: int) -> Launch"),
           "Waits for a launch, or raises its error. Each is taken once.")
      .def("__len__", &PythonPreparation::total);

  engine
      .def("prepare_async", &prepare_async, nb::arg("requests"), nb::arg("threads") = 0,
           nb::arg("progress") = nb::none(),
           nb::sig("def prepare_async(self, requests: collections.abc.Sequence[Request], threads: int = 0, progress: "
                   "collections.abc.Callable[[int, int], object] | None = None) -> Preparation"),
           "Prepares requests in threads of the library, and returns at once.")
      .def("function", &make_function, nb::sig("def function(self, " TMA_JIT_REQUEST_PARAMETERS ") -> Function"),
           "A callable that takes tensors each time: the first call of a shape prepares, later ones find the launch.");
}

}  // namespace tma_jit::python
