#include "request.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "collected.h"

namespace tma_jit::python {
namespace {

// Whether the value is a number of Python's or of NumPy's. Arrays are none, though they may convert to one.
bool is_number(nb::handle value) {
  if (PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr())) return true;
  const nb::object numpy = nb::steal(PyImport_GetModule(nb::str("numpy").ptr()));
  if (numpy.is_valid())
    return nb::isinstance(value, numpy.attr("integer")) || nb::isinstance(value, numpy.attr("floating"));
  PyErr_Clear();
  return false;
}

std::string read_name(nb::handle name) {
  return read_as<std::string>(name, "a name");
}

Scalar read_scalar(nb::handle name, nb::handle value) {
  if (!PyIndex_Check(value.ptr())) return nb::cast<double>(nb::float_(value));
  const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
  if (!whole.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long integer = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow == 0) return std::int64_t{integer};
  const unsigned long long large = PyLong_AsUnsignedLongLong(whole.ptr());
  if (PyErr_Occurred() == nullptr) return std::uint64_t{large};
  PyErr_Clear();
  raise_invalid("scalar " + read_name(name) + ": " + shown(value) + " does not fit into 64 bits");
}

void add_tensor(KernelRequest& request, nb::handle name, nb::handle object) {
  NamedArray named{read_name(name), {}};
  named.array = held_array(object, named.name);
  if (named.array.tensor.rank > 0) request.arrays.push_back(std::move(named));
}

// A part of a request: `set` takes what the keyword of that name may be, `get` returns such a value.
struct Part {
  std::string_view keyword;
  void (*set)(KernelRequest& request, nb::handle value);
  nb::object (*get)(const KernelRequest& request);
};

// Returns the list of what any iterable but a text gives.
nb::object listed(nb::handle value) {
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr())) throw nb::cast_error();
  const nb::object iterator = nb::steal(PyObject_GetIter(value.ptr()));
  if (!iterator.is_valid()) {
    PyErr_Clear();
    throw nb::cast_error();
  }
  nb::object list = nb::steal(PySequence_List(iterator.ptr()));
  if (!list.is_valid()) throw nb::python_error();
  return list;
}

// Returns the dictionary of any mapping.
nb::dict mapped(nb::handle value) {
  nb::object dict =
      nb::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyDict_Type), value.ptr(), nullptr));
  if (dict.is_valid()) return nb::borrow<nb::dict>(dict);
  PyErr_Clear();
  throw nb::cast_error();
}

std::map<std::string, Scalar> scalars_in(nb::handle value) {
  std::map<std::string, Scalar> scalars;
  for (const auto [name, scalar] : mapped(value)) scalars[nb::cast<std::string>(name)] = read_scalar(name, scalar);
  return scalars;
}

// Sets a member of the request from a value of the same form; a list from any iterable.
template <auto member> void set(KernelRequest& request, nb::handle value) {
  auto& part = request.request.*member;
  using Value = std::remove_reference_t<decltype(part)>;
  if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    part = nb::cast<Value>(listed(value));
  } else {
    part = nb::cast<Value>(value);
  }
}

template <auto member> nb::object get(const KernelRequest& request) {
  return nb::cast(request.request.*member);
}

std::map<std::string, std::string> type_names(const KernelRequest& request) {
  std::map<std::string, std::string> names;
  for (const auto& [name, type] : request.request.types) names[name] = name_of(type);
  return names;
}

constexpr Part kParts[] = {
    {"tensors",
     [](KernelRequest& request, nb::handle value) {
       for (const auto [name, array] : mapped(value)) add_tensor(request, name, array);
     },
     [](const KernelRequest& request) -> nb::object {
       nb::dict tensors;
       for (const NamedArray& named : request.arrays) tensors[named.name.c_str()] = named.array.object;
       return tensors;
     }},
    {"types",
     [](KernelRequest& request, nb::handle value) {
       for (const auto [name, type] : mapped(value)) {
         request.request.types[nb::cast<std::string>(name)] = read_dtype(type);
       }
     },
     [](const KernelRequest& request) { return nb::cast(type_names(request)); }},
    {"scalars",
     [](KernelRequest& request, nb::handle value) {
       for (auto& [name, scalar] : scalars_in(value)) request.request.scalars[name] = scalar;
     },
     [](const KernelRequest& request) -> nb::object {
       nb::dict scalars;
       for (const auto& [name, scalar] : request.request.scalars) {
         scalars[name.c_str()] = std::visit([](auto value) -> nb::object { return nb::cast(value); }, scalar);
       }
       return scalars;
     }},
    {"hooks", set<&Request::hooks>, get<&Request::hooks>},
    {"dims", set<&Request::dims>, get<&Request::dims>},
    {"params", set<&Request::params>, get<&Request::params>},
    {"operands", set<&Request::operands>, get<&Request::operands>},
    {"fixed", set<&Request::fixed>, get<&Request::fixed>},
    {"present", set<&Request::present>, get<&Request::present>},
    {"workspaces", set<&Request::workspaces>, get<&Request::workspaces>},
    {"file", set<&Request::file>, get<&Request::file>},
    {"sm_budget", set<&Request::sm_budget>, get<&Request::sm_budget>},
    {"reference", set<&Request::reference>, get<&Request::reference>},
    {"untrusted_hooks", set<&Request::untrusted_hooks>, get<&Request::untrusted_hooks>},
};

void set_part(KernelRequest& request, nb::handle name, nb::handle value) {
  const std::string keyword = read_name(name);
  for (const Part& part : kParts) {
    if (part.keyword != keyword) continue;
    try {
      if (!value.is_none()) part.set(request, value);
    } catch (const nb::cast_error&) {
      raise_invalid(keyword + " cannot be " + shown(value));
    }
    return;
  }
  if (is_number(value)) {
    request.request.scalars[keyword] = read_scalar(name, value);
  } else {
    add_tensor(request, name, value);
  }
}

KernelRequest make_request(nb::handle kernel, const nb::kwargs& keywords) {
  if (!PyUnicode_Check(kernel.ptr()))
    raise_invalid("the first argument is a kernel's name, or a Request and nothing else");
  KernelRequest request;
  request.request.kernel = read_as<std::string>(kernel, "a kernel's name");
  for (const auto [name, value] : keywords) set_part(request, name, value);
  return request;
}

// Returns what copies and pickles a request: a call that makes it. Arrays are pickled as their libraries do.
nb::tuple reduced(nb::handle self) {
  const auto& request = nb::cast<KernelRequest&>(self);
  nb::dict keywords;
  for (const Part& part : kParts) keywords[nb::str(part.keyword.data(), part.keyword.size())] = part.get(request);
  const nb::object partial = nb::module_::import_("functools").attr("partial");
  return nb::make_tuple(partial(self.type(), request.request.kernel, **keywords), nb::tuple());
}

}  // namespace

std::map<std::string, Scalar> read_scalars(nb::handle given) {
  if (given.is_none()) return {};
  try {
    return scalars_in(given);
  } catch (const nb::cast_error&) {
    raise_invalid("scalars cannot be " + shown(given));
  }
}

bool is_part_of_plan(std::string_view keyword) {
  if (keyword == "tensors" || keyword == "scalars") return false;
  return std::ranges::find(kParts, keyword, &Part::keyword) != std::ranges::end(kParts);
}

Array held_array(nb::handle object, const std::string& name) {
  Array array = read_array(object, name.c_str());
  if (!array.object.is_valid()) array.object = nb::borrow(object);
  return array;
}

KernelRequest read_request(const nb::args& args, const nb::kwargs& keywords) {
  if (args.size() != 1) raise_invalid("one kernel's name or Request is given by position; everything else by name");
  if (nb::isinstance<KernelRequest>(args[0]) && keywords.empty()) return nb::cast<KernelRequest&>(args[0]);
  return make_request(args[0], keywords);
}

void bind_request(nb::module_& module) {
  nb::class_<KernelRequest>(module, "Request", nb::type_slots(collected<KernelRequest>()),
                            "What is asked of a kernel; the keywords are those of Engine.prepare.")
      .def(
          "__init__",
          [](KernelRequest* self, const nb::args& args, const nb::kwargs& keywords) {
            new (self) KernelRequest(read_request(args, keywords));
          },
          nb::sig("def __init__(self, " TMA_JIT_REQUEST_PARAMETERS ") -> None"))
      .def_prop_ro("kernel", [](const KernelRequest& self) { return text_of(self.request.kernel); })
      .def_prop_ro("dims", [](const KernelRequest& self) { return self.request.dims; })
      .def_prop_ro("params", [](const KernelRequest& self) { return self.request.params; })
      .def_prop_ro("types", type_names)
      .def("__reduce__", reduced, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

}  // namespace tma_jit::python
