// A plan read from the JSON that json_of makes of it.
#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include <tma_jit/json.h>

#include "base/json_integer.h"
#include "base/json_text.h"
#include "core/argument_images.h"
#include "core/scalar_image.h"
#include "json/json_tensor_map.h"

namespace tma_jit {
namespace {

using Json = nlohmann::ordered_json;
using Scalars = std::map<std::string, Scalar>;

constexpr std::size_t kRankMax = 5;

// Returns null for a field that is not there, which no reader takes.
const Json& field(const Json& object, const char* name) {
  static const Json none;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? none : *found;
}

Result<std::string> text_in(const Json& object, const char* name) {
  if (const Json& value = field(object, name); value.is_string()) return value.get<std::string>();
  return failure(ErrorCode::parse, "{} is not a text", name);
}

Result<bool> flag_in(const Json& object, const char* name) {
  if (const Json& value = field(object, name); value.is_boolean()) return value.get<bool>();
  return failure(ErrorCode::parse, "{} is neither true nor false", name);
}

Result<DType> type_in(const Json& object) {
  TMA_JIT_ASSIGN(const std::string name, text_in(object, "dtype"));
  if (const auto type = dtype_named(name)) return *type;
  return failure(ErrorCode::parse, "{} is not an element type", name);
}

// Reads a list of exactly three integers.
template <class Integer> Result<void> read_extents(const Json& object, const char* name, std::array<Integer, 3>& to) {
  TMA_JIT_ASSIGN(const std::vector<Integer> list, integers_in<Integer>(field(object, name), name));
  if (list.size() != to.size()) return failure(ErrorCode::parse, "{} has {} elements, not 3", name, list.size());
  std::ranges::copy(list, to.begin());
  return {};
}

// An operand of a hook; a dimension that is broadcast has the extent 1 and the stride 0.
void make_operand(Argument& operand) {
  std::vector<std::int64_t> extents = operand.shape;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 1 && operand.strides[i] == 0) extents[i] = kEveryIndex;
  }
  operand.image = operand_image(0, operand.strides, extents);
}

Result<ValueRange> range_in(const Json& object) {
  ValueRange range;
  TMA_JIT_ASSIGN(range.least, integer_in<std::int64_t>(field(object, "least"), "least"));
  TMA_JIT_ASSIGN(range.most, integer_in<std::int64_t>(field(object, "most"), "most"));
  TMA_JIT_ASSIGN(range.rising, flag_in(object, "rising"));
  TMA_JIT_ASSIGN(range.checked, flag_in(object, "checked"));
  TMA_JIT_ASSIGN(range.distinct, flag_in(object, "distinct"));
  return range;
}

Result<void> read_tensor(const Json& object, Argument& tensor) {
  TMA_JIT_ASSIGN(tensor.dtype, type_in(object));
  TMA_JIT_ASSIGN(tensor.present, flag_in(object, "present"));
  TMA_JIT_ASSIGN(tensor.output, flag_in(object, "output"));
  TMA_JIT_ASSIGN(tensor.shape, integers_in<std::int64_t>(field(object, "shape"), "shape"));
  TMA_JIT_ASSIGN(tensor.strides, integers_in<std::int64_t>(field(object, "strides"), "strides"));
  TMA_JIT_ASSIGN(tensor.address_alignment,
                 integer_in<std::uint32_t>(field(object, "address_alignment"), "address_alignment"));
  if (const Json& range = field(object, "range"); range.is_object()) {
    TMA_JIT_ASSIGN(tensor.range, range_in(range));
  }
  if (tensor.shape.size() != tensor.strides.size() || tensor.shape.size() > kRankMax) {
    return failure(ErrorCode::parse, "{} has {} extents and {} strides", tensor.name, tensor.shape.size(),
                   tensor.strides.size());
  }
  if (!tensor.declaration.empty()) {
    make_operand(tensor);
    return {};
  }
  const bool mapped = tensor.kind == Argument::Kind::tensor_map;
  tensor.viewed = mapped && tensor.image.size() > kMapBytes;
  tensor.alignment = mapped ? kMapAlignment : 8;
  const std::size_t offset = mapped ? kMapBytes : 0;
  const std::size_t view = tensor.present && (!mapped || tensor.viewed) ? view_bytes(tensor.strides.size()) : 0;
  if (tensor.image.size() < offset + view)
    return failure(ErrorCode::parse, "{} has {} bytes, which are too few", tensor.name, tensor.image.size());
  if (!tensor.present) return {};
  if (const Json& map = field(object, "map"); !map.is_null()) {
    TMA_JIT_ASSIGN(tensor.map, json::map_in(map, tensor.dtype));
  }
  if (view > 0) put_view(tensor.image, offset, 0, tensor.strides);
  return {};
}

// Reads two hexadecimal digits a byte.
bool read_digits(std::string_view digits, std::vector<std::byte>& image) {
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
    if (error != std::errc() || end != digits.data() + i + 2) return false;
    image[i / 2] = static_cast<std::byte>(byte);
  }
  return true;
}

// A value that is given replaces the plan's.
Result<void> read_scalar(const Json& object, const Scalars& scalars, Argument& scalar) {
  TMA_JIT_ASSIGN(scalar.dtype, type_in(object));
  scalar.alignment = size_of(scalar.dtype);
  if (const auto given = scalars.find(scalar.name); given != scalars.end()) {
    TMA_JIT_ASSIGN(scalar.image, scalar_image(scalar.name, scalar.dtype, given->second));
    return {};
  }
  TMA_JIT_ASSIGN(const std::string digits, text_in(object, "image"));
  scalar.image.assign(scalar.alignment, std::byte{});
  if (digits.size() == 2 * scalar.alignment && read_digits(digits, scalar.image)) return {};
  return failure(ErrorCode::parse, "scalar {}: the image \"{}\" is not of {} bytes", scalar.name, digits,
                 scalar.alignment);
}

Result<void> read_workspace(const Json& object, Argument& workspace) {
  workspace.dtype = DType::u8;
  workspace.address_alignment = kWorkspaceAlignment;
  TMA_JIT_ASSIGN(workspace.workspace_bytes,
                 integer_in<std::uint64_t>(field(object, "workspace_bytes"), "workspace_bytes"));
  TMA_JIT_ASSIGN(workspace.workspace_zeroed, flag_in(object, "zeroed"));
  return {};
}

// Reads what arguments of all kinds have, and makes an image of zeros.
Result<Argument> argument_in(const Json& object, const Plan& plan, const Scalars& scalars) {
  constexpr std::uint32_t kImageMax = 1 << 15;  // the most that a kernel's parameters may have
  Argument argument;
  TMA_JIT_ASSIGN(argument.name, text_in(object, "name"));
  TMA_JIT_ASSIGN(const std::string kind, text_in(object, "kind"));
  TMA_JIT_ASSIGN(const auto bytes, integer_in<std::uint32_t>(field(object, "bytes"), "bytes"));
  if (bytes > kImageMax) return failure(ErrorCode::parse, "{} has {} bytes", argument.name, bytes);
  argument.image.resize(bytes);
  if (const Json& operand = field(object, "operand"); operand.is_string()) argument.declaration = operand;
  if (const Json& list = field(object, "list"); list.is_string()) argument.list = list;
  if (kind == "tensor map" || kind == "view") {
    argument.kind = kind == "view" ? Argument::Kind::view : Argument::Kind::tensor_map;
    TMA_JIT_CHECK(read_tensor(object, argument));
  } else if (kind == "scalar") {
    TMA_JIT_CHECK(read_scalar(object, scalars, argument));
  } else if (kind == "workspace") {
    argument.kind = Argument::Kind::workspace;
    TMA_JIT_CHECK(read_workspace(object, argument));
  } else if (kind == "dims") {
    argument = dims_argument(plan.dims);
  } else if (kind == "hooks") {
    argument.kind = Argument::Kind::hooks;
  } else {
    return failure(ErrorCode::parse, "no argument is of the kind {}", kind);
  }
  if (argument.image.size() != bytes)
    return failure(ErrorCode::parse, "{} has {} bytes, not {}", argument.name, argument.image.size(), bytes);
  return argument;
}

// Operands come after the argument that holds them.
Result<void> read_arguments(const Json& list, const Scalars& scalars, Plan& plan) {
  if (!list.is_array()) return failure(ErrorCode::parse, "arguments is not a list");
  for (const Json& object : list) {
    TMA_JIT_ASSIGN(Argument argument, argument_in(object, plan, scalars));
    plan.arguments.push_back(std::move(argument));
  }
  const auto hooks = std::ranges::find(plan.arguments, Argument::Kind::hooks, &Argument::kind);
  if (hooks == plan.arguments.end()) return {};
  const std::size_t bytes = hooks->image.size();
  *hooks = hooks_argument({hooks + 1, plan.arguments.end()});
  if (hooks->image.size() == bytes) return {};
  return failure(ErrorCode::parse, "hooks has {} bytes, not {}", hooks->image.size(), bytes);
}

Result<void> read_dims(const Json& list, Plan& plan) {
  if (!list.is_array()) return failure(ErrorCode::parse, "dims is not a list");
  for (const Json& object : list) {
    DimValue dim;
    TMA_JIT_ASSIGN(dim.name, text_in(object, "name"));
    TMA_JIT_ASSIGN(dim.value, integer_in<std::int64_t>(field(object, "value"), dim.name));
    TMA_JIT_ASSIGN(dim.fixed, flag_in(object, "fixed"));
    TMA_JIT_ASSIGN(dim.wide, flag_in(object, "wide"));
    plan.dims.push_back(std::move(dim));
  }
  return {};
}

Result<void> read_geometry(const Json& object, Geometry& geometry) {
  TMA_JIT_CHECK(read_extents(object, "grid", geometry.grid));
  TMA_JIT_CHECK(read_extents(object, "block", geometry.block));
  TMA_JIT_CHECK(read_extents(object, "cluster", geometry.cluster));
  TMA_JIT_ASSIGN(geometry.smem_bytes, integer_in<std::uint32_t>(field(object, "smem_bytes"), "smem_bytes"));
  TMA_JIT_ASSIGN(geometry.programmatic, flag_in(object, "programmatic"));
  return {};
}

double number_in(const Json& object, const char* name) {
  const Json& value = field(object, name);
  return value.is_number() ? value.get<double>() : 0;
}

Result<Plan> plan_in(const Json& object, const Scalars& scalars) {
  Plan plan;
  TMA_JIT_ASSIGN(plan.kernel, text_in(object, "kernel"));
  TMA_JIT_ASSIGN(plan.entry, text_in(object, "entry"));
  TMA_JIT_ASSIGN(plan.file, text_in(object, "file"));
  TMA_JIT_ASSIGN(plan.arch, text_in(object, "arch"));
  TMA_JIT_CHECK(read_dims(field(object, "dims"), plan));
  TMA_JIT_CHECK(read_geometry(field(object, "geometry"), plan.geometry));
  TMA_JIT_CHECK(read_arguments(field(object, "arguments"), scalars, plan));
  for (const auto& [name, value] : field(object, "config").items()) {
    TMA_JIT_ASSIGN(const auto number, integer_in<std::int64_t>(value, name));
    plan.config.emplace_back(name, number);
  }
  const Json& work = field(object, "work");
  plan.work = {number_in(work, "flops"), number_in(work, "bytes"), number_in(work, "cycles")};
  if (const auto reason = text_in(object, "reason")) plan.reason = *reason;
  return plan;
}

}  // namespace

Result<Plan> parse_plan(std::string_view json, const std::map<std::string, Scalar>& scalars) {
  TMA_JIT_ASSIGN(const Json object, read_json<Json>(json));
  auto plan = plan_in(object, scalars);
  if (!plan) plan.error().message.insert(0, "a plan as JSON: ");
  return plan;
}

}  // namespace tma_jit
