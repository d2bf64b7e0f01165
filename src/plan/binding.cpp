#include "plan/binding.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "plan/fault.h"

namespace tma_jit::plan {
namespace {

// A value and its source, for the error if another source gives a different value.
template <class T> struct Sourced {
  T value;
  std::string source;
};

template <class Declarations> std::optional<std::size_t> index_of(const Declarations& declared, std::string_view name) {
  const auto at = std::ranges::find(declared, name, [](const auto& d) -> std::string_view { return d.name; });
  if (at == declared.end()) return std::nullopt;
  return static_cast<std::size_t>(at - declared.begin());
}

// The name of which an extent determines the value: it is the extent, or was before a number was added.
struct Term {
  std::string_view name;
  std::int64_t number = 0;
  bool in_sum = false;
};

std::optional<Term> term_of(const templates::Expression& extent) {
  if (const auto name = extent.single_name()) return Term{.name = *name};
  if (const auto sum = extent.name_and_number()) return Term{.name = sum->first, .number = sum->second, .in_sum = true};
  return std::nullopt;
}

class Binder {
 public:
  Binder(const templates::Template& kernel, const Request& request, const DeviceInfo& device)
      : kernel_(kernel), request_(request), types_(kernel.types.size()), dims_(kernel.dims.size()) {
    binding_.kernel = &kernel;
    binding_.request = &request;
    binding_.device = &device;
    binding_.types.reserve(kernel.types.size());
    binding_.dims.reserve(kernel.dims.size());
    binding_.has_dim.reserve(kernel.dims.size());
    binding_.fixed.insert(request.fixed.begin(), request.fixed.end());
  }

  Result<Binding> bound() {
    TMA_JIT_CHECK(check_names(kernel_, request_));
    TMA_JIT_CHECK(check_tensors(kernel_, request_));
    find_tensors();
    TMA_JIT_CHECK(check_all_given());
    TMA_JIT_CHECK(bind_types());
    TMA_JIT_CHECK(bind_dims());
    return std::move(binding_);
  }

 private:
  void find_tensors();
  Result<void> check_all_given() const;
  // Returns the value of a type that nothing decides.
  DType default_of(const templates::Type& type) const;
  Result<void> bind_types();
  Result<void> bind_element(const templates::Tensor& declared, const Tensor& given);
  Result<void> set_type(std::size_t type, DType value, std::string source);
  Result<void> bind_dims();
  // Binds the dims that extents are, or those without a value that are `in_sums` with a number.
  Result<void> bind_extents(bool in_sums);
  Result<void> set_dim(std::size_t dim, std::int64_t value, std::string source);
  Result<std::int64_t> settled(const templates::Dim& dim, const std::optional<Sourced<std::int64_t>>& value) const;
  std::string tensors_with(std::string_view dim) const;

  const templates::Template& kernel_;
  const Request& request_;
  std::vector<std::optional<Sourced<DType>>> types_;
  std::vector<std::optional<Sourced<std::int64_t>>> dims_;
  Binding binding_;
};

void Binder::find_tensors() {
  binding_.tensors.resize(kernel_.tensors.size());
  for (const NamedTensor& named : request_.tensors) {
    if (named.tensor.rank == 0) continue;
    binding_.tensors[*index_of(kernel_.tensors, named.name)] = &named.tensor;
    binding_.has_tensors = true;
  }
}

Result<void> Binder::check_all_given() const {
  if (!binding_.has_tensors) return {};
  for (std::size_t i = 0; i < kernel_.tensors.size(); ++i) {
    const templates::Tensor& declared = kernel_.tensors[i];
    const bool asked = std::ranges::find(request_.present, declared.name) != request_.present.end();
    if (binding_.tensors[i] != nullptr || (declared.when.has_value() && !asked)) continue;
    std::vector<std::string> names;
    for (const templates::Tensor& tensor : kernel_.tensors) names.push_back(tensor.name);
    return fault(kernel_, ErrorCode::invalid_argument, "tensor {} is missing; it takes {}", declared.name,
                 joined(names));
  }
  return {};
}

Result<void> Binder::set_type(std::size_t type, DType value, std::string source) {
  const templates::Type& declared = kernel_.types[type];
  if (types_[type].has_value() && types_[type]->value != value) {
    return fault(kernel_, ErrorCode::invalid_argument, "{} is {} by {} and {} by {}", declared.name,
                 name_of(types_[type]->value), types_[type]->source, name_of(value), source);
  }
  if (!types_[type].has_value()) types_[type] = {value, std::move(source)};
  return {};
}

Result<void> Binder::bind_element(const templates::Tensor& declared, const Tensor& given) {
  if (request_.reference && declared.output) {
    if (given.dtype == DType::f64) return {};
    return fault(kernel_, ErrorCode::invalid_argument, "tensor {} is {}; a reference writes f64", declared.name,
                 name_of(given.dtype));
  }
  if (declared.type.concrete.has_value()) {
    if (*declared.type.concrete == given.dtype) return {};
    return fault(kernel_, ErrorCode::invalid_argument, "tensor {} is {}, the template declares {}", declared.name,
                 name_of(given.dtype), name_of(*declared.type.concrete));
  }
  const std::size_t type = *index_of(kernel_.types, declared.type.name);
  const std::vector<DType>& choices = kernel_.types[type].choices;
  if (std::ranges::find(choices, given.dtype) == choices.end()) {
    std::vector<std::string> names;
    names.reserve(choices.size());
    for (const DType choice : choices) names.emplace_back(name_of(choice));
    return fault(kernel_, ErrorCode::invalid_argument, "tensor {} is {}, but {} is one of {}", declared.name,
                 name_of(given.dtype), declared.type.name, joined(names));
  }
  return set_type(type, given.dtype, "tensor " + declared.name);
}

DType Binder::default_of(const templates::Type& type) const {
  if (!type.follows.has_value()) return type.default_value;
  const DType followed = binding_.types[*type.follows];
  return std::ranges::find(type.choices, followed) != type.choices.end() ? followed : type.default_value;
}

Result<void> Binder::bind_types() {
  for (const auto& [name, type] : request_.types) {
    TMA_JIT_CHECK(set_type(*index_of(kernel_.types, name), type, "the request"));
  }
  for (std::size_t i = 0; i < kernel_.tensors.size(); ++i) {
    if (binding_.tensors[i] != nullptr) TMA_JIT_CHECK(bind_element(kernel_.tensors[i], *binding_.tensors[i]));
  }
  for (std::size_t i = 0; i < types_.size(); ++i) {
    binding_.types.push_back(types_[i].has_value() ? types_[i]->value : default_of(kernel_.types[i]));
  }
  return {};
}

Result<void> Binder::set_dim(std::size_t dim, std::int64_t value, std::string source) {
  if (dims_[dim].has_value() && dims_[dim]->value != value) {
    return fault(kernel_, ErrorCode::invalid_argument, "{} is {} by {} and {} by {}", kernel_.dims[dim].name,
                 dims_[dim]->value, dims_[dim]->source, value, source);
  }
  if (!dims_[dim].has_value()) dims_[dim] = {value, std::move(source)};
  return {};
}

Result<void> Binder::bind_extents(bool in_sums) {
  for (std::size_t t = 0; t < kernel_.tensors.size(); ++t) {
    if (binding_.tensors[t] == nullptr) continue;
    const templates::Tensor& declared = kernel_.tensors[t];
    const Tensor& given = *binding_.tensors[t];
    for (std::size_t i = 0; i < declared.shape.size(); ++i) {
      const auto term = term_of(declared.shape[i]);
      const std::optional<std::size_t> dim = term.has_value() ? index_of(kernel_.dims, term->name) : std::nullopt;
      if (!dim.has_value() || term->in_sum != in_sums || (in_sums && dims_[*dim].has_value())) continue;
      std::int64_t value = 0;
      if (__builtin_sub_overflow(given.shape[i], term->number, &value)) continue;
      TMA_JIT_CHECK(set_dim(*dim, value, fmt::format("tensor {} {}", declared.name, shape_text(given))));
    }
  }
  return {};
}

// Returns the tensors whose shape could determine a dim.
std::string Binder::tensors_with(std::string_view dim) const {
  std::vector<std::string> names;
  for (const templates::Tensor& tensor : kernel_.tensors) {
    const auto determines = [&](const templates::Expression& entry) {
      const auto term = term_of(entry);
      return term.has_value() && term->name == dim;
    };
    if (std::ranges::any_of(tensor.shape, determines)) names.push_back(tensor.name);
  }
  return names.empty() ? std::string() : fmt::format(" or a tensor that has it ({})", joined(names));
}

Result<std::int64_t> Binder::settled(const templates::Dim& dim,
                                     const std::optional<Sourced<std::int64_t>>& value) const {
  if (!value.has_value() && dim.when.has_value()) return 0;
  if (!value.has_value()) {
    return fault(kernel_, ErrorCode::invalid_argument, "dim {} has no value; give it{}", dim.name,
                 tensors_with(dim.name));
  }
  if (value->value >= dim.min && value->value <= dim.max) return value->value;
  const std::string_view advice = value->value == 0                     ? "; it does not take empty tensors"
                                  : value->value > dim.max && !dim.wide ? "; split the work, each part within it"
                                                                        : "";
  return fault(kernel_, ErrorCode::invalid_argument, "{} = {} by {} is outside {}..{}{}", dim.name, value->value,
               value->source, dim.min, dim.max, advice);
}

Result<void> Binder::bind_dims() {
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (kernel_.dims[i].value.has_value()) dims_[i] = {*kernel_.dims[i].value, "the template"};
  }
  for (const auto& [name, value] : request_.dims) {
    const std::size_t dim = *index_of(kernel_.dims, name);
    // In plans, and so in the lines that are made of them, an optional dim that no configuration has is 0.
    const bool absent = value == 0 && kernel_.dims[dim].when.has_value() && kernel_.dims[dim].min > 0;
    if (!absent) TMA_JIT_CHECK(set_dim(dim, value, "the request"));
  }
  TMA_JIT_CHECK(bind_extents(false));
  TMA_JIT_CHECK(bind_extents(true));
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    TMA_JIT_ASSIGN(const std::int64_t value, settled(kernel_.dims[i], dims_[i]));
    binding_.dims.push_back(value);
    binding_.has_dim.push_back(dims_[i].has_value());
  }
  return {};
}

}  // namespace

DType Binding::type_of(const templates::TypeName& name) const {
  if (name.concrete.has_value()) return *name.concrete;
  return types[*index_of(kernel->types, name.name)];
}

DType Binding::element_of(const templates::Tensor& tensor) const {
  return request->reference && tensor.output ? DType::f64 : type_of(tensor.type);
}

const templates::ReferenceKernel* Binding::stand_in() const {
  return request->inputs ? &*kernel->inputs : request->reference ? &*kernel->reference : nullptr;
}

bool Binding::gives(const templates::Hook& hook) const {
  const auto text = request->hooks.find(hook.name);
  return text != request->hooks.end() && text->second != hook.default_value;
}

Result<Binding> bind(const templates::Template& kernel, const Request& request, const DeviceInfo& device) {
  return Binder(kernel, request, device).bound();
}

}  // namespace tma_jit::plan
