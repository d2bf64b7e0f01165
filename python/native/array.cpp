#include "array.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "collected.h"

namespace tma_jit::python {
namespace {

// The names of element types in NumPy, PyTorch and JAX.
constexpr std::array<std::pair<std::string_view, DType>, 14> kTypes = {{{"uint8", DType::u8},
                                                                        {"int8", DType::s8},
                                                                        {"uint16", DType::u16},
                                                                        {"int16", DType::s16},
                                                                        {"uint32", DType::u32},
                                                                        {"int32", DType::s32},
                                                                        {"uint64", DType::u64},
                                                                        {"int64", DType::s64},
                                                                        {"float16", DType::f16},
                                                                        {"bfloat16", DType::bf16},
                                                                        {"float32", DType::f32},
                                                                        {"float64", DType::f64},
                                                                        {"float8_e4m3fn", DType::e4m3},
                                                                        {"float8_e5m2", DType::e5m2}}};

std::string name_of_type(nb::handle type) {
  if (nb::isinstance<nb::str>(type)) return read_as<std::string>(type, "an element type");
  for (const char* attribute : {"name", "__name__"}) {
    if (nb::hasattr(type, attribute)) return nb::cast<std::string>(nb::str(type.attr(attribute)));
  }
  return nb::str(type).c_str();
}

// How the arrays of one Python type are read.
enum class Reader : std::uint8_t { wrapped, torch, array_interface, cuda_interface, dlpack, none };

// The attributes' names, made once, because making a str takes as long as reading an attribute.
struct Names {
  nb::str data_ptr = nb::str("data_ptr"), dtype = nb::str("dtype"), shape = nb::str("shape"),
          stride = nb::str("stride"), is_cuda = nb::str("is_cuda");
};

// What is known of Python's types; guarded by the interpreter's lock, and kept until the process ends.
struct Known {
  Names names;
  std::vector<std::pair<PyObject*, Reader>> readers;
  std::vector<std::pair<PyObject*, DType>> torch_types;
};

Known& known() {
  static auto* const kept = new Known;
  return *kept;
}

Reader reader_for(nb::handle type) {
  const auto has = [&](const char* attribute) { return nb::hasattr(type, attribute); };
  if (type.is(nb::type<Array>())) return Reader::wrapped;
  if (has("data_ptr") && has("stride") && has("is_cuda")) return Reader::torch;
  if (has("__array_interface__")) return Reader::array_interface;
  if (has("__cuda_array_interface__")) return Reader::cuda_interface;
  return has("__dlpack__") ? Reader::dlpack : Reader::none;
}

Reader reader_of(nb::handle object) {
  const nb::handle type = object.type();
  for (const auto& [seen, reader] : known().readers) {
    if (seen == type.ptr()) return reader;
  }
  const Reader reader = reader_for(type);
  known().readers.emplace_back(nb::borrow(type).release().ptr(), reader);
  return reader;
}

[[noreturn]] void refuse(const char* name, const std::string& why) {
  raise_invalid((*name == '\0' ? "a tensor" : "tensor " + std::string(name)) + ": " + why);
}

[[noreturn]] void refuse_type(const char* name, const std::string& type) {
  refuse(name, "elements of type " + type + "; they must be " +
                   "integers of 8 to 64 bits, f16, bf16, f32, f64, e4m3 or e5m2");
}

DType torch_type(nb::handle type, const char* name) {
  for (const auto& [seen, dtype] : known().torch_types) {
    if (seen == type.ptr()) return dtype;
  }
  std::string text = nb::str(type).c_str();
  if (text.starts_with("torch.")) text.erase(0, 6);
  const auto* const found = std::ranges::find(kTypes, text, &std::pair<std::string_view, DType>::first);
  if (found == kTypes.end()) refuse_type(name, text);
  known().torch_types.emplace_back(nb::borrow(type).release().ptr(), found->second);
  return found->second;
}

void set_rank(Tensor& tensor, std::size_t rank, const char* name) {
  if (rank == 0) refuse(name, "the array has no dimension; a scalar is given as a number");
  if (rank > std::size_t{kMaxRank}) refuse(name, std::to_string(rank) + " dimensions; tensors have at most 5");
  tensor.rank = static_cast<int>(rank);
}

std::int64_t integer_at(nb::handle tuple, std::size_t index) {
  PyObject* const item = PyTuple_GetItem(tuple.ptr(), static_cast<Py_ssize_t>(index));
  if (item == nullptr) throw nb::python_error();
  const long long value = PyLong_AsLongLong(item);
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

Array read_torch(nb::handle object, const char* name) {
  const Names& names = known().names;
  Array array;
  array.tensor.dtype = torch_type(nb::object(object.attr(names.dtype)), name);
  const nb::object shape = object.attr(names.shape), stride = object.attr(names.stride)();
  set_rank(array.tensor, static_cast<std::size_t>(PyTuple_Size(shape.ptr())), name);
  for (std::size_t i = 0; i < static_cast<std::size_t>(array.tensor.rank); ++i) {
    array.tensor.shape[i] = integer_at(shape, i);
    array.tensor.strides[i] = integer_at(stride, i);
  }
  array.tensor.address = nb::cast<std::uint64_t>(nb::object(object.attr(names.data_ptr)()));
  array.host = nb::object(object.attr(names.is_cuda)).ptr() == Py_False;
  return array;
}

void set_packed_strides(Tensor& tensor) {
  tensor = Tensor::row_major(tensor.address, tensor.dtype, tensor.rank, tensor.shape.data());
}

// Returns the type of "<f4" and the like. A type that NumPy does not know itself, such as bfloat16, is named by
// `dtype`.
DType interface_type(nb::handle object, const std::string& code, const char* name) {
  std::string text = code.substr(code.size() > 1 ? 1 : 0);
  if (code.starts_with('>')) refuse_type(name, "of reversed bytes, " + code);
  for (const auto& [letter, word] : {std::pair{'f', "f"}, {'u', "u"}, {'i', "s"}}) {
    if (text.size() != 2 || text[0] != letter) continue;
    if (const auto found = dtype_named(word + std::to_string(8 * (text[1] - '0')))) return *found;
  }
  if (nb::hasattr(object, "dtype")) text = name_of_type(object.attr("dtype"));
  const auto* const found = std::ranges::find(kTypes, text, &std::pair<std::string_view, DType>::first);
  if (found == kTypes.end()) refuse_type(name, text);
  return found->second;
}

// Reads the dictionary that NumPy's and CUDA's array interface have in common. Throws nb::cast_error if an entry has
// another form.
Array interface_of(nb::handle object, const nb::dict& described, bool host, const char* name) {
  Array array;
  array.host = host;
  Tensor& tensor = array.tensor;
  tensor.dtype = interface_type(object, nb::cast<std::string>(described["typestr"]), name);
  const auto shape = nb::cast<nb::tuple>(described["shape"]);
  set_rank(tensor, shape.size(), name);
  for (std::size_t i = 0; i < shape.size(); ++i) tensor.shape[i] = integer_at(shape, i);
  const nb::object given = described.contains("strides") ? nb::object(described["strides"]) : nb::none();
  if (given.is_none()) {
    set_packed_strides(tensor);
  } else {
    const auto strides = nb::cast<nb::tuple>(given);
    if (strides.size() != shape.size()) throw nb::cast_error();
    const auto bytes = static_cast<std::int64_t>(size_of(tensor.dtype));
    for (std::size_t i = 0; i < shape.size(); ++i) {
      tensor.strides[i] = integer_at(strides, i) / bytes;
      if (tensor.strides[i] * bytes != integer_at(strides, i))
        refuse(name, "a stride is not a whole number of elements");
    }
  }
  const auto data = nb::cast<nb::tuple>(described["data"]);
  tensor.address = nb::cast<std::uint64_t>(data[0]);
  array.read_only = nb::cast<bool>(data[1]);
  return array;
}

Array read_interface(nb::handle object, nb::handle described, bool host, const char* name) {
  try {
    return interface_of(object, nb::cast<nb::dict>(described), host, name);
  } catch (const nb::cast_error&) {
    refuse(name, "its array interface cannot be " + shown(described));
  }
}

DType dlpack_type(nb::dlpack::dtype type, const char* name) {
  const auto bits = std::to_string(type.bits);
  std::string text;
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int: text = "s" + bits; break;
    case nb::dlpack::dtype_code::UInt: text = "u" + bits; break;
    case nb::dlpack::dtype_code::Float: text = "f" + bits; break;
    case nb::dlpack::dtype_code::Bfloat: text = "bf" + bits; break;
    case nb::dlpack::dtype_code::Float8_E4M3FN: text = "e4m3"; break;
    case nb::dlpack::dtype_code::Float8_E5M2: text = "e5m2"; break;
    default: break;
  }
  const auto found = dtype_named(text);
  if (!found || type.lanes != 1)
    refuse_type(name, "DLPack's code " + std::to_string(type.code) + ", " + bits + " bits");
  return *found;
}

Array read_dlpack(nb::handle object, const char* name) {
  Array array;
  nb::ndarray<> writable;
  array.read_only = !nb::try_cast(object, writable);
  if (!array.read_only) {
    array.imported = nb::ndarray<nb::ro>(writable);
  } else if (!nb::try_cast(object, array.imported)) {
    refuse(name, "its __dlpack__ lends no array");
  }
  const auto& lent = array.imported;
  Tensor& tensor = array.tensor;
  tensor.dtype = dlpack_type(lent.dtype(), name);
  set_rank(tensor, lent.ndim(), name);
  for (std::size_t i = 0; i < lent.ndim(); ++i) {
    tensor.shape[i] = static_cast<std::int64_t>(lent.shape(i));
    tensor.strides[i] = lent.stride(i);
  }
  tensor.address = reinterpret_cast<std::uint64_t>(lent.data());
  array.host = lent.device_type() == nb::device::cpu::value;
  return array;
}

// JAX's arrays have CUDA's interface only on a GPU, and not for every type; DLPack serves the rest.
Array read_cuda(nb::handle object, const char* name) {
  const nb::object described = nb::getattr(object, "__cuda_array_interface__", nb::none());
  if (described.is_none()) return read_dlpack(object, name);
  return read_interface(object, described, false, name);
}

// tma_jit.Tensor(array, dtype): the same memory as elements of another type of the same size.
Array retyped(nb::handle object, nb::handle type) {
  Array array = read_array(object, "");
  array.object = nb::borrow(object);
  if (type.is_none()) return array;
  const DType dtype = read_dtype(type);
  if (size_of(dtype) != size_of(array.tensor.dtype)) {
    raise_invalid("elements of " + std::string(name_of(array.tensor.dtype)) + " are not of the size of " +
                  std::string(name_of(dtype)));
  }
  array.tensor.dtype = dtype;
  return array;
}

Array at_address(std::uint64_t address, nb::handle type, const std::vector<std::int64_t>& shape,
                 const std::optional<std::vector<std::int64_t>>& strides) {
  Array array;
  array.tensor.address = address;
  array.tensor.dtype = read_dtype(type);
  set_rank(array.tensor, shape.size(), "");
  std::ranges::copy(shape, array.tensor.shape.begin());
  if (!strides) {
    set_packed_strides(array.tensor);
  } else if (strides->size() == shape.size()) {
    std::ranges::copy(*strides, array.tensor.strides.begin());
  } else {
    raise_invalid("as many strides as extents");
  }
  return array;
}

nb::tuple tuple_of(const std::array<std::int64_t, kMaxRank>& values, int rank) {
  nb::list list;
  for (int i = 0; i < rank; ++i) list.append(values[static_cast<std::size_t>(i)]);
  return nb::tuple(list);
}

}  // namespace

DType read_dtype(nb::handle type) {
  std::string name = name_of_type(type);
  if (name.starts_with("torch.")) name.erase(0, 6);
  const auto* const found = std::ranges::find(kTypes, name, &std::pair<std::string_view, DType>::first);
  if (found != kTypes.end()) return found->second;
  const auto named = dtype_named(name);
  if (!named) raise_invalid("no element type is named " + name);
  return *named;
}

Array read_array(nb::handle object, const char* name) {
  if (object.is_none()) return {};
  switch (reader_of(object)) {
    case Reader::wrapped: return nb::cast<Array&>(object);
    case Reader::torch: return read_torch(object, name);
    case Reader::array_interface:
      return read_interface(object, nb::object(object.attr("__array_interface__")), true, name);
    case Reader::cuda_interface: return read_cuda(object, name);
    case Reader::dlpack: return read_dlpack(object, name);
    case Reader::none: break;
  }
  refuse(name, "a " + name_of_type(object.type()) +
                   " is no array: it has neither __array_interface__, __cuda_array_interface__ nor __dlpack__");
}

void bind_array(nb::module_& module) {
  nb::class_<Array>(module, "Tensor", nb::type_slots(collected<Array>()),
                    "A view of an array, or of memory at an address.")
      .def(
          "__init__", [](Array* self, nb::handle array, nb::handle dtype) { new (self) Array(retyped(array, dtype)); },
          nb::arg("array"), nb::arg("dtype") = nb::none(),
          nb::sig("def __init__(self, array: typing.Any, dtype: typing.Any = None) -> None"),
          "The array's memory, as elements of another type of the same size: bf16 and fp8 in arrays of integers.")
      .def_static("at", &at_address, nb::arg("address"), nb::arg("dtype"), nb::arg("shape"),
                  nb::arg("strides") = nb::none(),
                  nb::sig("def at(address: int, dtype: typing.Any, shape: collections.abc.Sequence[int], strides: "
                          "collections.abc.Sequence[int] | None = None) -> Tensor"),
                  "Memory of the device, which the caller keeps; strides are in elements.")
      .def_prop_ro("address", [](const Array& self) { return self.tensor.address; })
      .def_prop_ro("dtype", [](const Array& self) { return text_of(name_of(self.tensor.dtype)); })
      .def_prop_ro(
          "shape", [](const Array& self) { return tuple_of(self.tensor.shape, self.tensor.rank); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "strides", [](const Array& self) { return tuple_of(self.tensor.strides, self.tensor.rank); },
          nb::sig("def strides(self) -> tuple[int, ...]"));
}

}  // namespace tma_jit::python
