#include "engine.h"

#include <map>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <tma_jit/device.h>
#include <tma_jit/json.h>

#include "collected.h"
#include "launch.h"

namespace tma_jit::python {
namespace {

// What the stages take: a Plan, or what a request is made of, which is planned first.
Plan planned(PythonEngine& engine, const nb::args& args, const nb::kwargs& keywords) {
  if (args.size() == 1 && keywords.empty() && nb::isinstance<Plan>(args[0])) return nb::cast<Plan&>(args[0]);
  BoundRequest bound = bind_arrays(engine, read_request(args, keywords));
  return take(unlocked([&] { return engine->plan(bound.request); }));
}

nb::object prepare(nb::handle self, const nb::args& args, const nb::kwargs& keywords) {
  auto& engine = nb::cast<PythonEngine&>(self);
  BoundRequest bound = bind_arrays(engine, read_request(args, keywords));
  Launch launch = take(unlocked([&] { return engine->prepare(bound.request); }));
  return python_launch(self, std::move(bound), std::move(launch));
}

// Returns JSON text: of a text as it is, and of what json.loads makes of it.
std::string json_text(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return read_as<std::string>(value, "a plan");
  return nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(value));
}

std::vector<std::byte> kernel_bytes(nb::handle kernel) {
  nb::object held = nb::borrow(kernel);
  if (!nb::isinstance<nb::bytes>(held))
    held = nb::module_::import_("pathlib").attr("Path")(kernel).attr("read_bytes")();
  const nb::bytes bytes(held);
  const auto* const begin = static_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

// Reads the tensors and scalars of a kernel whose plan has everything else.
KernelRequest values_for(const std::string& kernel, const nb::kwargs& keywords) {
  for (const auto [name, value] : keywords) {
    const auto given = read_as<std::string>(name, "a keyword");
    if (is_part_of_plan(given))
      raise_invalid(given + " is decided by the plan: a built kernel takes tensors and scalars");
  }
  return read_request(nb::borrow<nb::args>(nb::make_tuple(nb::str(kernel.c_str(), kernel.size()))), keywords);
}

nb::object load(nb::handle self, nb::handle given, nb::handle kernel, const nb::kwargs& keywords) {
  auto& engine = nb::cast<PythonEngine&>(self);
  const bool planned_here = nb::isinstance<Plan>(given);
  BoundRequest bound =
      bind_arrays(engine, values_for(planned_here ? nb::cast<Plan&>(given).kernel : "the kernel", keywords));
  const auto& scalars = bound.request.scalars;
  if (planned_here && !scalars.empty()) raise_invalid(scalars.begin()->first + ": a Plan has its scalars' values");
  Plan plan = planned_here ? nb::cast<Plan&>(given) : take(parse_plan(json_text(given), scalars));
  for (const NamedArray& named : bound.arrays) check_same(plan, named);
  for (const NamedTensor& named : bound.request.tensors) {  // those of the arrays that it was planned for may be gone
    for (Argument& each : plan.arguments) {
      if (each.name == named.name && named.tensor.address != 0) each.address = named.tensor.address;
    }
  }
  std::vector<std::byte> bytes = kernel_bytes(kernel);
  Launch launch = take(unlocked([&] { return engine->load(plan, std::move(bytes)); }));
  for (const NamedTensor& named : bound.request.tensors) {
    const std::uint64_t address = named.tensor.address;
    if (address != 0) take(unlocked([&] { return launch.rebind(named.name, address); }));
  }
  return python_launch(self, std::move(bound), std::move(launch));
}

// Defines a method that runs one stage on a plan, and returns its result as `shown` makes it.
template <auto stage, class Show> auto on_plan(Show show) {
  return [show](PythonEngine& self, const nb::args& args, const nb::kwargs& keywords) {
    const Plan plan = planned(self, args, keywords);
    return show(take(unlocked([&] { return ((*self).*stage)(plan); })));
  };
}

nb::list listed(std::vector<Request> requests) {
  nb::list list;
  for (Request& request : requests) list.append(nb::cast(KernelRequest{std::move(request), {}}));
  return list;
}

using Dims = std::map<std::string, std::int64_t>;

nb::list kernels(PythonEngine& self) {
  nb::list list;
  for (const Result<KernelInfo>& kernel : unlocked([&] { return self->kernels(); })) {
    list.append(value_of(kernel ? json_of(*kernel) : R"({"error": )" + json_of(kernel.error()) + "}"));
  }
  return list;
}

nb::list candidates(PythonEngine& self, const nb::args& args, const nb::kwargs& keywords) {
  std::size_t most = 16;
  auto rest = nb::borrow<nb::kwargs>(nb::dict(keywords));
  if (rest.contains("most")) {
    most = read_as<std::size_t>(nb::object(rest["most"]), "most");
    nb::del(rest["most"]);
  }
  const KernelRequest request = read_request(args, rest);
  nb::list list;
  for (const Candidate& each : take(unlocked([&] { return self->candidates(request.request, most); }))) {
    nb::dict one;
    one["file"] = text_of(each.file);
    one["params"] = std::map(each.params.begin(), each.params.end());
    one["cycles"] = each.cycles;
    list.append(one);
  }
  return list;
}

#define TMA_JIT_PLANNED "kernel: str | Request | Plan, **values: typing.Any"

void bind_stages(nb::class_<PythonEngine>& engine) {
  const auto text = [](const auto& value) { return text_of(value); };
  const auto json = [](const auto& value) { return value_of(json_of(value)); };
  engine
      .def("prepare", &prepare, nb::sig("def prepare(self, " TMA_JIT_REQUEST_PARAMETERS ") -> Launch"),
           "Plans, compiles what no cache has, and loads. A keyword that names no part of a request is a scalar if it "
           "is a "
           "number, else a tensor.")
      .def(
          "load", &load, nb::arg("plan"), nb::arg("kernel"), nb::arg("values"),
          nb::sig("def load(self, plan: Plan | collections.abc.Mapping[str, typing.Any] | str, kernel: bytes | str | "
                  "os.PathLike[str], *, tensors: collections.abc.Mapping[str, typing.Any] | None = None, scalars: "
                  "collections.abc.Mapping[str, float] | None = None, **values: typing.Any) -> Launch"),
          "Loads a kernel that was built before: the bytes or the file of `tma-jit build -o`, and the plan that it was "
          "built from, as `tma-jit plan --json` printed it. Compiles nothing and reads neither templates nor cache.")
      .def("plan", &planned, nb::sig("def plan(self, " TMA_JIT_REQUEST_PARAMETERS ") -> Plan"),
           "The decisions; needs no GPU for a device by name.")
      .def("build", on_plan<&Engine::build>([](Artifact artifact) { return artifact; }),
           nb::sig("def build(self, " TMA_JIT_PLANNED ") -> Artifact"))
      .def("emit", on_plan<&Engine::emit>([](const Source& source) { return text_of(source.text); }),
           nb::sig("def emit(self, " TMA_JIT_PLANNED ") -> str"), "The CUDA text.")
      .def("emit_standalone", on_plan<&Engine::emit_standalone>(text),
           nb::sig("def emit_standalone(self, " TMA_JIT_PLANNED ") -> str"), "One file that nvcc compiles unchanged.")
      .def("build_ptx", on_plan<&Engine::build_ptx>(text), nb::sig("def build_ptx(self, " TMA_JIT_PLANNED ") -> str"))
      .def("key", on_plan<&Engine::key>([](const Key& key) { return key.hex(); }),
           nb::sig("def key(self, " TMA_JIT_PLANNED ") -> str"), "The key of the cache, in hexadecimal digits.")
      .def("explain", on_plan<&Engine::explain>(json),
           nb::sig("def explain(self, " TMA_JIT_PLANNED ") -> dict[str, typing.Any]"),
           "Why the kernel is or is not in the cache.")
      .def("candidates", &candidates,
           nb::sig("def candidates(self, kernel: str | Request, *, most: int = 16, **values: typing.Any) -> "
                   "list[dict[str, typing.Any]]"),
           "The configurations that are most worth measuring; the first is the one that `plan` would choose.");
}

void bind_kernels(nb::class_<PythonEngine>& engine) {
  engine
      .def("kernels", &kernels, nb::sig("def kernels(self) -> list[dict[str, typing.Any]]"),
           "The declarations of every template file, or the error of one that does not parse.")
      .def(
          "presets",
          [](PythonEngine& self, const std::string& kernel, const Dims& dims) {
            return listed(take(unlocked([&] { return self->presets(kernel, dims); })));
          },
          nb::arg("kernel"), nb::arg("dims") = Dims(),
          nb::sig("def presets(self, kernel: str, dims: collections.abc.Mapping[str, int] = ...) -> list[Request]"))
      .def(
          "example",
          [](PythonEngine& self, const nb::args& args, const nb::kwargs& keywords) {
            const KernelRequest request = read_request(args, keywords);
            return KernelRequest{take(unlocked([&] { return self->example(request.request); })), {}};
          },
          nb::sig("def example(self, " TMA_JIT_REQUEST_PARAMETERS ") -> Request"),
          "The request completed to a problem that the kernel takes.")
      .def(
          "add_template",
          [](PythonEngine& self, std::string name, std::string text) {
            take(unlocked([&] { return self->add_template(std::move(name), std::move(text)); }));
          },
          nb::arg("name"), nb::arg("text"))
      .def(
          "add_template_file",
          [](PythonEngine& self, const std::filesystem::path& file) {
            take(unlocked([&] { return self->add_template_file(file); }));
          },
          nb::arg("file"), nb::sig("def add_template_file(self, file: str | os.PathLike[str]) -> None"));
}

void bind_facts(nb::class_<PythonEngine>& engine) {
  engine
      .def_prop_ro(
          "device",
          [](PythonEngine& self) { return value_of(json_of(take(unlocked([&] { return self->device(); })))); },
          nb::sig("def device(self) -> dict[str, typing.Any]"), "The facts that plans are based on.")
      .def_prop_ro("emulated", &PythonEngine::emulated)
      .def_prop_ro(
          "stats", [](PythonEngine& self) { return value_of(json_of(unlocked([&] { return self->stats(); }))); },
          nb::sig("def stats(self) -> dict[str, typing.Any]"), "Counts since the engine was made.")
      .def_prop_ro(
          "cache_dir", [](PythonEngine& self) { return path_or_none(self->cache_dir()); },
          nb::sig("def cache_dir(self) -> pathlib.Path | None"))
      .def(
          "environment",
          [](PythonEngine& self) { return value_of(json_of(unlocked([&] { return self->environment(); }))); },
          nb::sig("def environment(self) -> dict[str, typing.Any]"), "What this machine offers.")
      .def(
          "synchronize", [](PythonEngine& self) { take(unlocked([&] { return synchronize(*self); })); },
          "Waits for all work of the device.")
      .def(
          "seal",
          [](PythonEngine& self, const std::string& how) {
            const std::map<std::string, Seal> seals = {
                {"off", Seal::off}, {"warn", Seal::warn}, {"refuse", Seal::refuse}};
            const auto found = seals.find(how);
            if (found == seals.end()) raise_invalid(how + " is none of off, warn, refuse");
            unlocked([&] { self->seal(found->second); });
          },
          nb::arg("how") = "refuse", "From now on a request that needs a compile is refused or reported.");
}

int clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<PythonEngine>(self)->clear_callbacks();
  return 0;
}

}  // namespace

PythonEngine::PythonEngine(EngineOptions given)
    : emulated_(given.options.device.kind() == Device::Kind::emulated),
      callbacks_(std::move(given.callbacks)),
      engine_(std::in_place, std::move(given.options)) {}

PythonEngine::~PythonEngine() {
  const Unlocked released;
  engine_.reset();
}

nb::class_<PythonEngine> bind_engine(nb::module_& module) {
  // Of cycles through an engine, those through a method of a class derived from it have no other part that could clear
  // them.
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse<PythonEngine>)},
                                {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                                {0, nullptr}};
  nb::class_<PythonEngine> engine(module, "Engine", nb::type_slots(slots),
                                  "Turns requests into launches on one device. Thread-safe.");
  engine.def(
      "__init__",
      [](PythonEngine* self, nb::handle device, const nb::kwargs& keywords) {
        new (self) PythonEngine(read_options(device, keywords));
      },
      nb::arg("device") = nb::none(), nb::arg("options"), nb::sig(engine_signature()),
      "`device` is an ordinal, a name such as \"h100\", \"emulator:sm_90a\" or a torch.device; the keywords are the "
      "fields "
      "of C++'s Options.");
  bind_stages(engine);
  bind_kernels(engine);
  bind_facts(engine);
  return engine;
}

}  // namespace tma_jit::python
