#include "template/template.h"

#include <algorithm>
#include <filesystem>

namespace tma_jit::templates {
namespace {

template <class T> const T* named(const std::vector<T>& declarations, std::string_view name) {
  const auto found = std::find_if(declarations.begin(), declarations.end(),
                                  [&](const T& declaration) { return declaration.name == name; });
  return found != declarations.end() ? &*found : nullptr;
}

template <class T>
DeclarationIndex declared_in(const std::vector<T>& declarations, DeclarationIndex::List list, std::string_view name) {
  const T* found = named(declarations, name);
  if (found == nullptr) return {};
  return {list, static_cast<std::size_t>(found - declarations.data())};
}

}  // namespace

DeclarationIndex declaration_named(const Template& kernel, std::string_view name) {
  DeclarationIndex declaration = declared_in(kernel.params, DeclarationIndex::List::params, name);
  if (declaration.list == DeclarationIndex::List::none)
    declaration = declared_in(kernel.lets, DeclarationIndex::List::lets, name);
  if (declaration.list == DeclarationIndex::List::none)
    declaration = declared_in(kernel.dims, DeclarationIndex::List::dims, name);
  if (declaration.list == DeclarationIndex::List::none)
    declaration = declared_in(kernel.types, DeclarationIndex::List::types, name);
  return declaration;
}

DeclarationIndex declaration_of(const Template& kernel, const Reference& reference) {
  switch (reference.kind) {
    case Reference::Kind::name: return declaration_named(kernel, reference.name);
    case Reference::Kind::type_size:
    case Reference::Kind::integer:
    case Reference::Kind::dtype: return declared_in(kernel.types, DeclarationIndex::List::types, reference.name);
    case Reference::Kind::stride:
    case Reference::Kind::alignment:
      return declared_in(kernel.tensors, DeclarationIndex::List::tensors, reference.name);
    case Reference::Kind::given: return declared_in(kernel.hooks, DeclarationIndex::List::hooks, reference.name);
    case Reference::Kind::list:
    case Reference::Kind::device: break;
  }
  return {};
}

std::string Template::stem() const {
  return stem_of(source->file);
}

std::string Template::used_text() const {
  std::string text;
  for (const SourcePointer& one : used) text += one->text;
  return text;
}

bool is_probe(std::string_view file) {
  return std::filesystem::path(file).parent_path().filename() == "probes";
}

std::string stem_of(std::string_view file) {
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  if (file.size() > 3 && file.ends_with(".cu")) file.remove_suffix(3);
  return std::string(file);
}

const Type* Template::find_type(std::string_view name) const {
  return named(types, name);
}
const Dim* Template::find_dim(std::string_view name) const {
  return named(dims, name);
}
const Param* Template::find_param(std::string_view name) const {
  return named(params, name);
}
const Let* Template::find_let(std::string_view name) const {
  return named(lets, name);
}
const Tensor* Template::find_tensor(std::string_view name) const {
  return named(tensors, name);
}

bool launch_time(const Let& let, const Names& fixed_dims) {
  const auto open = [&](const std::string& dim) { return !fixed_dims.contains(dim); };
  return let.depends_on_request || std::any_of(let.dims.begin(), let.dims.end(), open);
}

bool launch_time(const Template& kernel, const Reference& reference, const Names& fixed_dims) {
  if (reference.of_type()) return false;
  if (reference.kind != Reference::Kind::name) return true;
  if (const Dim* dim = kernel.find_dim(reference.name)) return !dim->value && !fixed_dims.contains(dim->name);
  const Let* let = kernel.find_let(reference.name);
  return let != nullptr && launch_time(*let, fixed_dims);
}

bool launch_time(const Template& kernel, const Expression& expression, const Names& fixed_dims) {
  return std::ranges::any_of(expression.references(),
                             [&](const Reference& each) { return launch_time(kernel, each, fixed_dims); });
}

bool depends_on_problem(const Template& kernel, const Expression& expression) {
  return std::ranges::any_of(expression.references(), [&](const Reference& each) {
    return each.kind != Reference::Kind::device && launch_time(kernel, each, {});
  });
}

}  // namespace tma_jit::templates
