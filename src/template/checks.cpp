#include "template/checks.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "core/failure.h"
#include "core/integer_range.h"
#include "template/expressions_of.h"
#include "template/lists.h"
#include "template/references.h"

namespace tma_jit::templates {
namespace {

tl::unexpected<Error> error(const Builder& builder, const Position& at, std::string_view message) {
  return tl::make_unexpected(error_at(builder.result.source_of(at), at, message));
}

// Returns a path by use from one let to another, e.g. "A -> B -> A"; "" if there is none.
std::string path_between(const Template& kernel, const std::string& from, std::string_view to, Names& visited) {
  if (from == to) return from;
  const Let* let = kernel.find_let(from);
  if (let == nullptr || !visited.insert(from).second) return {};
  for (const std::string& name : let->value.names()) {
    if (const std::string path = path_between(kernel, name, to, visited); !path.empty())
      return fmt::format("{} -> {}", from, path);
  }
  return {};
}

Result<void> check_let_order(const Builder& builder, std::size_t index) {
  const Template& kernel = builder.result;
  const Let& let = kernel.lets[index];
  for (const Reference& reference : let.value.references()) {
    const Let* used = reference.kind == Reference::Kind::name ? kernel.find_let(reference.name) : nullptr;
    if (used == nullptr || used < &let) continue;
    if (used == &let) return error(builder, reference.at, fmt::format("let {} refers to itself", let.name));
    Names visited;
    if (const std::string path = path_between(kernel, used->name, let.name, visited); !path.empty()) {
      return error(builder, reference.at, fmt::format("the lets refer to each other: {} -> {}", let.name, path));
    }
    return error(builder, reference.at,
                 fmt::format("{} is declared below, on {}; a let uses only lets above it", used->name,
                             builder.line_text(used->at, reference.at)));
  }
  return {};
}

void add_dim(std::vector<std::string>& dims, const std::string& name) {
  if (std::find(dims.begin(), dims.end(), name) == dims.end()) dims.push_back(name);
}

void find_dependencies(const Template& kernel, Let& let) {
  for (const Reference& reference : let.value.references()) {
    if (reference.of_type()) continue;
    if (reference.kind != Reference::Kind::name) {
      let.depends_on_request = true;
    } else if (const Dim* dim = kernel.find_dim(reference.name)) {
      if (!dim->value) add_dim(let.dims, dim->name);
    } else if (const Let* used = kernel.find_let(reference.name)) {
      let.depends_on_request = let.depends_on_request || used->depends_on_request;
      for (const std::string& name : used->dims) add_dim(let.dims, name);
    }
  }
}

Result<void> check_type(const Builder& builder, const TypeName& type) {
  if (type.concrete || builder.result.find_type(type.name) != nullptr) return {};
  const auto found = builder.names.find(type.name);
  if (found != builder.names.end()) {
    return error(builder, type.at, fmt::format("{} is {}, not a type", type.name, described(found->second.kind)));
  }
  std::vector<std::string> known = names_of(builder.names, {NameKind::type});
  for (std::string& name : dtype_names()) known.push_back(std::move(name));
  return unknown_name(error(builder, type.at, fmt::format("unknown type {}", type.name)), type.name, known);
}

Result<void> check_types(const Builder& builder) {
  for (const Tensor& tensor : builder.result.tensors) TMA_JIT_CHECK(check_type(builder, tensor.type));
  for (const Scalar& scalar : builder.result.scalars) TMA_JIT_CHECK(check_type(builder, scalar.type));
  for (const Hook& hook : builder.result.hooks) {
    for (const Hook::Parameter& parameter : hook.parameters) TMA_JIT_CHECK(check_type(builder, parameter.type));
    TMA_JIT_CHECK(check_type(builder, hook.result));
  }
  return {};
}

// Rejects a literal that is not one of the hardware's values. Other expressions are checked by the planner.
Result<void> check_choice(const Builder& builder, const std::optional<Expression>& given, std::string_view what,
                          std::initializer_list<std::int64_t> choices) {
  const std::optional<std::int64_t> value = given ? given->constant() : std::nullopt;
  if (!value || std::find(choices.begin(), choices.end(), *value) != choices.end()) return {};
  return error(builder, given->at(), fmt::format("{} is one of {}, not {}", what, fmt::join(choices, ", "), *value));
}

// The permitted contents of an attribute's list, outermost first.
struct Entries {
  const std::vector<Expression>& list;
  std::string_view what;   // "box"
  std::string_view entry;  // "a box extent"
  std::size_t wanted = 0;
  std::string_view meaning;  // of the entries, if they do not correspond to the shape's: "pixels and channels"
};

Result<void> check_length(const Builder& builder, const Tensor& tensor, const Entries& entries) {
  if (entries.list.size() == entries.wanted) return {};
  const Position& at = entries.list.front().at();
  if (entries.wanted == tensor.shape.size()) {
    return error(builder, at,
                 fmt::format("the shape of {} has {} dimensions, its {} {}", tensor.name, tensor.shape.size(),
                             entries.what, entries.list.size()));
  }
  return error(builder, at,
               fmt::format("the {} of {}, {} over {} dimensions, takes {}, not {}", entries.what, tensor.name,
                           name_of(tensor.mode), tensor.shape.size(), entries.meaning, entries.list.size()));
}

Result<void> check_limit(const Builder& builder, const Entries& entries, std::size_t index, std::int64_t limit) {
  const Expression& entry = entries.list[index];
  const std::optional<std::int64_t> value = entry.constant();
  if (!value || (*value >= 1 && *value <= limit)) return {};
  return error(builder, entry.at(), fmt::format("{} is 1 to {}, not {}", entries.entry, limit, *value));
}

// Limits of the driver's cuTensorMapEncode functions (CUDA driver API 13.0): box extents and channels up to 256, pixels
// up to 1,024, element strides up to 8.
Result<void> check_lists(const Builder& builder, const Tensor& tensor) {
  const std::size_t rank = tensor.shape.size();
  const bool tiled = tensor.mode == MapMode::tile;
  const Entries box{*tensor.box, "box", "a box extent", tiled ? rank : 2, "pixels and channels"};
  TMA_JIT_CHECK(check_length(builder, tensor, box));
  for (std::size_t i = 0; i < box.wanted; ++i) TMA_JIT_CHECK(check_limit(builder, box, i, tiled || i > 0 ? 256 : 1024));
  if (!tensor.steps) return {};
  const Entries steps{*tensor.steps, "steps", "an element step", rank, {}};
  TMA_JIT_CHECK(check_length(builder, tensor, steps));
  for (std::size_t i = 0; i < rank; ++i) TMA_JIT_CHECK(check_limit(builder, steps, i, 8));
  return {};
}

Result<void> check_corners(const Builder& builder, const Tensor& tensor) {
  if (tensor.mode == MapMode::tile) return {};
  const std::size_t rank = tensor.shape.size();
  if (rank < 3) {
    return error(builder, tensor.at,
                 fmt::format("{} needs 3 to 5 dimensions, N, then D, H and W as there are, then C; {} has {}",
                             name_of(tensor.mode), tensor.name, rank));
  }
  const bool wide = tensor.mode != MapMode::im2col;
  const std::size_t corners = wide ? 1 : rank - 2;
  const std::string_view meaning = wide           ? "one offset, W's"
                                   : corners == 1 ? "W's offset"
                                   : corners == 2 ? "the offsets of H and W"
                                                  : "the offsets of D, H and W";
  TMA_JIT_CHECK(check_length(builder, tensor, {tensor.lower, "lower corner", {}, corners, meaning}));
  return check_length(builder, tensor, {tensor.upper, "upper corner", {}, corners, meaning});
}

Result<void> check_swizzle(const Builder& builder, const Tensor& tensor) {
  TMA_JIT_CHECK(check_choice(builder, tensor.swizzle, "swizzle", {0, 32, 64, 128}));
  TMA_JIT_CHECK(check_choice(builder, tensor.atom, "atom", {16, 32, 64}));
  if (!tensor.flip || tensor.atom) return {};
  return error(builder, tensor.at, fmt::format("flip needs atom 32 and swizzle 128; {} has no atom", tensor.name));
}

Result<void> check_early(const Builder& builder, const Tensor& tensor) {
  if (!tensor.early) return {};
  if (tensor.output) return error(builder, tensor.at, fmt::format("{} is written, which is never early", tensor.name));
  if (builder.result.launch.waits) return {};
  return error(builder, tensor.at, fmt::format("{} is early, but the launch does not say that it waits", tensor.name));
}

// The element types that a tensor may have.
std::vector<DType> choices_of(const Template& kernel, const Tensor& tensor) {
  if (tensor.type.concrete) return {*tensor.type.concrete};
  return kernel.find_type(tensor.type.name)->choices;
}

// Rejects a range that contradicts the rest of the declaration. One that depends on the problem is checked by the
// planner.
Result<void> check_range(const Builder& builder, const Tensor& tensor) {
  if (!tensor.range) return {};
  const ValidRange& range = *tensor.range;
  if (tensor.output) {
    return error(builder, range.at,
                 fmt::format("{} is written; a range says which values of an input are valid", tensor.name));
  }
  const std::optional<std::int64_t> least = range.least.constant(), most = range.most.constant();
  if (least && most && *least > *most) {
    return error(builder, range.at, fmt::format("the range {}..{} is empty", *least, *most));
  }
  for (const DType type : choices_of(builder.result, tensor)) {
    if (is_floating_point(type)) {
      return error(builder, range.at,
                   fmt::format("the elements of {} may be {}; only integers have a range", tensor.name, name_of(type)));
    }
    for (const Expression* bound : {&range.least, &range.most}) {
      const std::optional<std::int64_t> value = bound->constant();
      if (!value || holds(type, *value)) continue;
      return error(builder, bound->at(),
                   fmt::format("the elements of {} may be {}, which cannot be {}", tensor.name, name_of(type), *value));
    }
  }
  return {};
}

Result<void> check_tensor(const Builder& builder, const Tensor& tensor) {
  TMA_JIT_CHECK(check_early(builder, tensor));
  TMA_JIT_CHECK(check_range(builder, tensor));
  if (!tensor.box) return {};
  TMA_JIT_CHECK(check_corners(builder, tensor));
  TMA_JIT_CHECK(check_lists(builder, tensor));
  TMA_JIT_CHECK(check_swizzle(builder, tensor));
  TMA_JIT_CHECK(check_choice(builder, tensor.interleave, "interleave", {0, 16, 32}));
  return check_choice(builder, tensor.l2, "l2", {0, 64, 128, 256});
}

// Checks a preset, and finds its params.
Result<void> check_preset(const Builder& builder, Preset& preset) {
  for (Preset::Setting& setting : preset.settings) {
    const Param* param = builder.result.find_param(setting.param);
    if (param == nullptr) {
      const auto found = builder.names.find(setting.param);
      if (found != builder.names.end()) {
        return error(builder, setting.at,
                     fmt::format("a preset sets params, and {} is {}", setting.param, described(found->second.kind)));
      }
      const auto known = names_of(builder.names, {NameKind::param});
      return unknown_name(error(builder, setting.at, fmt::format("unknown param {}", setting.param)), setting.param,
                          known);
    }
    if (std::find(param->values.begin(), param->values.end(), setting.value) == param->values.end()) {
      return error(builder, setting.at, fmt::format("{} is not one of the values of {}", setting.value, setting.param));
    }
    setting.index = static_cast<std::size_t>(param - builder.result.params.data());
  }
  return {};
}

Result<void> check_presence(const Builder& builder) {
  const Template& kernel = builder.result;
  const Position top{1, 1, 1};
  if (kernel.kernel.empty())
    return error(builder, top, "the manifest names no kernel; add a line like //! kernel NAME");
  if (kernel.archs.empty())
    return error(builder, top, "the manifest names no architecture; add a line like //! arch sm_90a");
  if (kernel.launch.grid.empty()) {
    return error(builder, top, "the manifest has no launch; add a line like //! launch grid X block THREADS");
  }
  return {};
}

}  // namespace

Result<void> check_added(Builder& builder, Tensor& tensor) {
  ReferenceTable references(builder);
  for (Expression* expression : expressions_of(tensor)) TMA_JIT_CHECK(references.resolve(*expression));
  TMA_JIT_CHECK(check_type(builder, tensor.type));
  return check_range(builder, tensor);
}

Result<void> check_added(const Builder& builder, const Scalar& scalar) {
  return check_type(builder, scalar.type);
}

Result<void> check_presets(Builder& builder) {
  ReferenceTable references(builder);
  for (Preset& preset : builder.result.presets) {
    if (preset.when) TMA_JIT_CHECK(references.resolve(*preset.when));
    TMA_JIT_CHECK(check_preset(builder, preset));
  }
  return {};
}

Result<void> check(Builder& builder) {
  Template& kernel = builder.result;
  TMA_JIT_CHECK(check_presence(builder));
  TMA_JIT_CHECK(expand_lists(builder));
  ReferenceTable references(builder);
  for (Expression* expression : expressions_of(kernel)) TMA_JIT_CHECK(references.resolve(*expression));
  for (const std::string& name : kernel.order) kernel.ordered.push_back(declaration_named(kernel, name));
  for (std::size_t i = 0; i < kernel.lets.size(); ++i) {
    TMA_JIT_CHECK(check_let_order(builder, i));
    find_dependencies(kernel, kernel.lets[i]);
  }
  TMA_JIT_CHECK(check_types(builder));
  for (const Tensor& tensor : kernel.tensors) TMA_JIT_CHECK(check_tensor(builder, tensor));
  for (Preset& preset : kernel.presets) TMA_JIT_CHECK(check_preset(builder, preset));
  return {};
}

}  // namespace tma_jit::templates
