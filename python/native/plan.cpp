// tma_jit.Plan and Artifact: the stages between a request and a launch.
#include <map>
#include <string>

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <tma_jit/json.h>

#include "engine.h"

namespace tma_jit::python {
namespace {

using Extents = std::array<std::uint32_t, 3>;

nb::tuple tuple_of(const Extents& extents) {
  return nb::make_tuple(extents[0], extents[1], extents[2]);
}

nb::bytes bytes_of(const Artifact& artifact) {
  return nb::bytes(artifact.bytes.data(), artifact.bytes.size());
}

}  // namespace

void bind_plan(nb::module_& module) {
  nb::class_<Plan>(module, "Plan", "Every decision about one launch.")
      .def_prop_ro("kernel", [](const Plan& self) { return text_of(self.kernel); })
      .def_prop_ro(
          "file", [](const Plan& self) { return text_of(self.file); }, "The template file, as errors name it.")
      .def_prop_ro("arch", [](const Plan& self) { return text_of(self.arch); })
      .def_prop_ro(
          "params", [](const Plan& self) { return std::map(self.config.begin(), self.config.end()); },
          "The values of the params that were chosen.")
      .def_prop_ro("dims",
                   [](const Plan& self) {
                     std::map<std::string, std::int64_t> dims;
                     for (const DimValue& dim : self.dims) dims[dim.name] = dim.value;
                     return dims;
                   })
      .def_prop_ro("types",
                   [](const Plan& self) {
                     std::map<std::string, std::string> types;
                     for (const auto& [name, type] : types_of(self)) types[name] = name_of(type);
                     return types;
                   })
      .def_prop_ro(
          "grid", [](const Plan& self) { return tuple_of(self.geometry.grid); },
          nb::sig("def grid(self) -> tuple[int, int, int]"))
      .def_prop_ro(
          "block", [](const Plan& self) { return tuple_of(self.geometry.block); },
          nb::sig("def block(self) -> tuple[int, int, int]"))
      .def_prop_ro(
          "cluster", [](const Plan& self) { return tuple_of(self.geometry.cluster); },
          nb::sig("def cluster(self) -> tuple[int, int, int]"))
      .def_prop_ro("smem_bytes", [](const Plan& self) { return self.geometry.smem_bytes; })
      .def_prop_ro("flops", [](const Plan& self) { return self.work.flops; })
      .def_prop_ro("bytes", [](const Plan& self) { return self.work.bytes; })
      .def_prop_ro(
          "reason", [](const Plan& self) { return text_of(self.reason); },
          "Why the plan differs from that for packed and aligned tensors; empty if it does not.")
      .def(
          "as_dict", [](const Plan& self) { return value_of(json_of(self)); },
          nb::sig("def as_dict(self) -> dict[str, typing.Any]"), "All of it, as `tma-jit plan --json` prints it.")
      .def("__repr__", [](const Plan& self) {
        std::string text = "<tma_jit.Plan " + self.kernel + " from " + self.file + " for " + self.arch;
        for (const auto& [name, value] : self.config) text += " " + name + "=" + std::to_string(value);
        return text_of(text + ">");
      });

  nb::class_<Artifact>(module, "Artifact", "What the driver loads.")
      .def_prop_ro("data", &bytes_of, "The cubin, or PTX for an emulated device.")
      .def_prop_ro("key", [](const Artifact& self) { return self.key.hex(); })
      .def_prop_ro(
          "compiled", [](const Artifact& self) { return self.compiled; }, "False if a cache had it.")
      .def_prop_ro("registers", [](const Artifact& self) { return self.resources.registers; })
      .def_prop_ro(
          "spill_bytes",
          [](const Artifact& self) { return self.resources.spill_store_bytes + self.resources.spill_load_bytes; })
      .def(
          "as_dict", [](const Artifact& self) { return value_of(json_of(self)); },
          nb::sig("def as_dict(self) -> dict[str, typing.Any]"),
          "All but the data, as `tma-jit build --json` prints it.");
}

}  // namespace tma_jit::python
