// Conversion of the lines of warm lists to text and back.
#include <tma_jit/warm_list.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/json_integer.h"
#include "base/json_text.h"
#include "base/text.h"
#include "core/failure.h"

namespace tma_jit {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kAlignmentMax = 256;  // bytes; planning does not tell more apart

std::string stem_of(const std::string& file) {
  const std::string name = file.substr(file.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

bool is_packed(const Argument& tensor) {
  std::int64_t stride = 1;
  for (std::size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.strides[i] != stride && tensor.shape[i] > 1) return false;
    stride *= tensor.shape[i];
  }
  return true;
}

// Returns the alignment of an address that planning does not take for an aligned one; 0 for any other.
std::uint64_t low_alignment(std::uint64_t address) {
  const std::uint64_t alignment = address & -address;
  return alignment < kAlignmentMax ? alignment : 0;
}

// Lists either all tensors or none: if every tensor is packed, the dims determine them all. The accesses to a hook's
// operand depend on its address, too; those to a kernel's own tensors are a matter of its params.
Json tensors_of(const Plan& plan) {
  Json tensors = Json::object();
  bool determined = true;
  for (const Argument& argument : plan.arguments) {
    if (!argument.present || argument.shape.empty()) continue;
    Json& made = tensors[argument.name];
    made = {{"type", name_of(argument.dtype)}, {"shape", argument.shape}, {"strides", argument.strides}};
    const std::uint64_t alignment = argument.hooks_offset ? low_alignment(argument.address) : 0;
    if (alignment != 0) made["alignment"] = alignment;
    determined = determined && is_packed(argument) && alignment == 0;
  }
  return determined ? Json::object() : tensors;
}

// As the request declared them. A scalar needs some value to be planned; the kernel does not depend on it.
Json operands_of(const Plan& plan) {
  Json operands = Json::array();
  for (const Argument& argument : plan.arguments) {
    if (!argument.hooks_offset.has_value()) continue;
    const bool needs_value =
        argument.kind == Argument::Kind::scalar && argument.declaration.find('=') == std::string::npos;
    operands.push_back(argument.declaration + (needs_value ? " = 0" : ""));
  }
  return operands;
}

void put(Json& line, const char* field, Json value) {
  const bool absent = value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty();
  if (!absent) line[field] = std::move(value);
}

Result<DType> type_in(const Json& value, std::string_view where) {
  const auto name = value.get<std::string>();
  const auto type = dtype_named(name);
  if (!type) return failure(ErrorCode::parse, "{}: \"{}\" is not an element type", where, name);
  return *type;
}

Result<NamedTensor> tensor_in(const std::string& name, const Json& value) {
  TMA_JIT_ASSIGN(const DType type, type_in(value.at("type"), name));
  TMA_JIT_ASSIGN(const auto shape, integers_in<std::int64_t>(value.at("shape"), "tensors." + name + ".shape"));
  TMA_JIT_ASSIGN(const auto strides, integers_in<std::int64_t>(value.at("strides"), "tensors." + name + ".strides"));
  if (shape.size() != strides.size() || shape.empty() || shape.size() > std::size_t{kMaxRank}) {
    return failure(ErrorCode::parse, "tensor {} has {} extents and {} strides; 1 to {} of each are wanted", name,
                   shape.size(), strides.size(), kMaxRank);
  }
  // An address of that alignment stands for the tensor's own, and 0 for any that is aligned enough.
  const std::uint64_t address = value.contains("alignment") ? value.at("alignment").get<std::uint64_t>() : 0;
  if ((address & (address - 1)) != 0 || address > kAlignmentMax) {
    return failure(ErrorCode::parse, "tensors.{}.alignment: {} is no power of two up to {}", name, address,
                   kAlignmentMax);
  }
  return NamedTensor{name,
                     Tensor::strided(address, type, static_cast<int>(shape.size()), shape.data(), strides.data())};
}

Result<void> read_types(const Json& value, Request& request) {
  if (!value.is_object()) return failure(ErrorCode::parse, "types is not an object");
  for (const auto& [name, type] : value.items()) {
    TMA_JIT_ASSIGN(request.types[name], type_in(type, name));
  }
  return {};
}

Result<void> read_tensors(const Json& value, Request& request) {
  if (!value.is_object()) return failure(ErrorCode::parse, "tensors is not an object");
  for (const auto& [name, tensor] : value.items()) {
    TMA_JIT_ASSIGN(NamedTensor read, tensor_in(name, tensor));
    request.tensors.push_back(std::move(read));
  }
  return {};
}

// Throws nlohmann's exception if the value's JSON type is not the field's.
Result<void> read_field(const std::string& field, const Json& value, WarmLine& line) {
  Request& request = line.request;
  if (field == "kernel") {
    value.get_to(request.kernel);
  } else if (field == "arch") {
    value.get_to(line.arch);
  } else if (field == "file") {
    value.get_to(request.file);
  } else if (field == "presets") {
    value.get_to(line.presets);
  } else if (field == "reference") {
    value.get_to(request.reference);
  } else if (field == "inputs") {
    value.get_to(request.inputs);
  } else if (field == "sm_budget") {
    TMA_JIT_ASSIGN(request.sm_budget, integer_in<int>(value, field));
  } else if (field == "fixed") {
    value.get_to(request.fixed);
  } else if (field == "dims") {
    TMA_JIT_ASSIGN(request.dims, named_integers_in(value, field));
  } else if (field == "params") {
    TMA_JIT_ASSIGN(request.params, named_integers_in(value, field));
  } else if (field == "pins") {
    TMA_JIT_ASSIGN(line.pins, named_integers_in(value, field));
  } else if (field == "hooks") {
    if (!value.is_object()) return failure(ErrorCode::parse, "hooks is not an object");
    value.get_to(request.hooks);
  } else if (field == "operands") {
    value.get_to(request.operands);
  } else if (field == "present") {
    value.get_to(request.present);
  } else if (field == "types") {
    return read_types(value, request);
  } else if (field == "tensors") {
    return read_tensors(value, request);
  } else {
    const std::vector<std::string> known = {"kernel", "arch",    "file",    "presets", "reference", "sm_budget",
                                            "fixed",  "dims",    "params",  "pins",    "hooks",     "operands",
                                            "types",  "tensors", "present", "inputs"};
    return unknown_name(failure(ErrorCode::parse, "no field is named \"{}\"", field), field, known);
  }
  return {};
}

std::string declared(const std::string& operand) {
  const bool needs_value = operand.find_first_of("[=") == std::string::npos;
  return operand + (needs_value ? " = 0" : "");
}

Json tensors_of(const Request& request) {
  Json tensors = Json::object();
  for (const auto& [name, tensor] : request.tensors) {
    const auto rank = std::min(tensor.rank, kMaxRank);
    if (rank <= 0) continue;
    Json& made = tensors[name];
    made = {{"type", name_of(tensor.dtype)},
            {"shape", std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.begin() + rank)},
            {"strides", std::vector<std::int64_t>(tensor.strides.begin(), tensor.strides.begin() + rank)}};
    const std::uint64_t alignment = low_alignment(tensor.address);
    if (alignment != 0) made["alignment"] = alignment;
  }
  return tensors;
}

std::string text_of(const Json& line) {
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string request_line(const Request& request) {
  Json line = {{"kernel", request.kernel}};
  Json types = Json::object(), operands = Json::array();
  for (const auto& [name, type] : request.types) types[name] = name_of(type);
  for (const std::string& operand : request.operands) operands.push_back(declared(operand));
  put(line, "file", request.file);
  put(line, "dims", request.dims);
  put(line, "types", std::move(types));
  put(line, "params", request.params);
  put(line, "fixed", request.fixed);
  put(line, "hooks", request.hooks);
  put(line, "operands", std::move(operands));
  put(line, "tensors", tensors_of(request));
  put(line, "present", request.present);
  if (request.sm_budget != 0) line["sm_budget"] = request.sm_budget;
  if (request.reference) line["reference"] = true;
  if (request.inputs) line["inputs"] = true;
  return text_of(line);
}

std::string warm_line(const Plan& plan) {
  Json line = {{"kernel", plan.kernel}, {"arch", plan.arch}, {"file", stem_of(plan.file)}};
  Json dims = Json::object(), types = Json::object(), params = Json::object(), hooks = Json::object();
  Json fixed = Json::array();
  for (const DimValue& dim : plan.dims) {
    dims[dim.name] = dim.value;
    if (dim.fixed) fixed.push_back(dim.name);
  }
  for (const Constant& constant : plan.constants) {
    if (constant.kind == Constant::Kind::type) types[constant.name] = name_of(constant.type);
  }
  for (const auto& [name, value] : plan.config) params[name] = value;
  for (const Hook& hook : plan.hooks) hooks[hook.name] = hook.text;
  put(line, "dims", std::move(dims));
  put(line, "types", std::move(types));
  put(line, "params", std::move(params));
  put(line, "fixed", std::move(fixed));
  put(line, "hooks", std::move(hooks));
  put(line, "operands", operands_of(plan));
  put(line, "tensors", tensors_of(plan));
  if (plan.reference) line[plan.inputs ? "inputs" : "reference"] = true;
  if (plan.pins.size() < plan.config.size()) put(line, "pins", plan.pins);  // else nothing was planned
  return text_of(line);
}

Result<WarmLine> parse_warm_line(std::string_view text) {
  const auto object = read_json<Json>(text);
  if (!object) return failure(ErrorCode::parse, "not a JSON object: {}", object.error().message);
  if (!object->is_object()) return failure(ErrorCode::parse, "a line of a warm list is a JSON object");
  WarmLine line;
  for (const auto& [field, value] : object->items()) {
    try {
      TMA_JIT_CHECK(read_field(field, value, line));
    } catch (const Json::exception& fault) {
      return failure(ErrorCode::parse, "{}: {}", field, words_of(fault));
    }
  }
  if (line.request.kernel.empty()) return failure(ErrorCode::parse, "the line names no kernel");
  return line;
}

}  // namespace tma_jit
