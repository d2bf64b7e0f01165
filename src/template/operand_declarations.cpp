#include "template/operand_declarations.h"

#include <algorithm>

#include "core/failure.h"
#include "template/checks.h"
#include "template/directives.h"
#include "template/line_parser.h"

namespace tma_jit::templates {
namespace {

// The file name of a declaration in errors.
constexpr const char* kFile = "operand";

template <class T> void add_names(const std::vector<T>& declarations, NameKind kind, NameTable& names) {
  for (const T& declared : declarations) names.emplace(declared.name, NamedThing{kind, declared.at});
}

NameTable names_in(const Template& kernel) {
  NameTable names;
  names.emplace(kernel.kernel, NamedThing{NameKind::kernel, {}});
  add_names(kernel.types, NameKind::type, names);
  add_names(kernel.dims, NameKind::dim, names);
  add_names(kernel.params, NameKind::param, names);
  add_names(kernel.lets, NameKind::let, names);
  add_names(kernel.tensors, NameKind::tensor, names);
  add_names(kernel.scalars, NameKind::scalar, names);
  add_names(kernel.workspaces, NameKind::workspace, names);
  add_names(kernel.hooks, NameKind::hook, names);
  return names;
}

// Returns whether the struct Hooks has a name that the preamble makes of the hook's or of its parameters'.
bool makes(const Hook& hook, std::string_view name) {
  constexpr std::string_view kMembers[] = {"_given", "_reads", "_of", "_own", "_with"};
  const auto is = [&](std::string_view of, std::string_view ending) {
    return name.starts_with(of) && name.substr(of.size()) == ending;
  };
  return std::ranges::any_of(kMembers, [&](std::string_view ending) { return is(hook.name, ending); }) ||
         (hook.generic && std::ranges::any_of(hook.parameters, [&](const Hook::Parameter& parameter) {
            return is(parameter.name, "_type");
          }));
}

Result<void> check_free(LineParser& line, const Builder& builder) {
  const Token& name = line.peek();
  const auto taken = [&](std::string_view what) {
    return line.error(name.at, fmt::format("{} is {} already; an operand has a name of its own", name.text, what));
  };
  if (const auto found = builder.names.find(name.text); found != builder.names.end()) {
    return taken(described(found->second.kind));
  }
  for (const Hook& hook : builder.result.hooks) {
    const auto same = [&](const Hook::Parameter& parameter) { return parameter.name == name.text; };
    if (std::ranges::any_of(hook.parameters, same)) return taken("an argument of hook " + hook.name);
    if (makes(hook, name.text)) return taken("a member that is made of hook " + hook.name);
  }
  return {};
}

// Returns whether NAME : TYPE [ follows; consumes nothing.
bool is_tensor(LineParser& line) {
  const Lexer start = line.mark();
  for (int i = 0; i < 3 && !line.at_end(); ++i) line.take();
  const bool found = line.peek().is("[");
  line.back_to(start);
  return found;
}

Result<void> parse_operand_tensor(LineParser& line, Builder& builder) {
  TMA_JIT_CHECK(parse_tensor(line, builder));
  Tensor& tensor = builder.result.tensors.back();
  tensor.operand = true;
  if (!builder.lists.empty())
    return line.error(tensor.at, fmt::format("{} is a list; an operand is one tensor", tensor.name));
  if (tensor.box || tensor.output || tensor.early || tensor.when) {
    return line.error(
        tensor.at,
        fmt::format("{} has an attribute; an operand has a type, a shape and a range of values only", tensor.name));
  }
  return check_added(builder, tensor);
}

Result<void> parse_operand_scalar(LineParser& line, Builder& builder) {
  TMA_JIT_CHECK(parse_scalar(line, builder));
  Scalar& scalar = builder.result.scalars.back();
  scalar.operand = true;
  TMA_JIT_CHECK(check_added(builder, scalar));
  const auto type = scalar.type.concrete;
  if (type && (!is_floating_point(*type) || *type == DType::f32 || *type == DType::f64)) return {};
  return line.error(scalar.type.at,
                    fmt::format("a scalar operand is an integer, f32 or f64, not {}", scalar.type.name));
}

Result<void> parse_operand(const std::string& text, Builder& builder) {
  builder.result.source = std::make_shared<SourceText>(SourceText{kFile, text});
  LineParser line(builder.result.source, builder.result.source->text, 1, 0);
  TMA_JIT_CHECK(check_free(line, builder));
  const std::string name(line.peek().text);
  TMA_JIT_CHECK(is_tensor(line) ? parse_operand_tensor(line, builder) : parse_operand_scalar(line, builder));
  builder.names[name].kind = NameKind::operand;
  return {};
}

}  // namespace

Result<Template> with_operands(const Template& kernel, std::span<const std::string> declarations) {
  Builder builder{kernel, names_in(kernel), {}, {}, {}, {}};
  if (kernel.hooks.empty() && !declarations.empty()) {
    return failure(ErrorCode::invalid_argument, "{}: operand {}: it has no hook that could read it", kernel.kernel,
                   declarations.front());
  }
  for (const std::string& text : declarations) TMA_JIT_CHECK(parse_operand(text, builder));
  builder.result.source = kernel.source;
  return std::move(builder.result);
}

}  // namespace tma_jit::templates
